#include "dlc/runtime/TcpStore.h"

#include "StoreTest.h"
#include "rendezvous/Frame.h"
#include "rendezvous/Socket.h"

#include <gmock/gmock.h>

#include <arpa/inet.h>
#include <atomic>
#include <csignal>
#include <future>
#include <mutex>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

using namespace dlc;
using namespace dlc::runtime;
using namespace dlc::runtime::test;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

namespace {

struct Reports {
  std::mutex mutex;
  std::vector<std::string> lines;

  std::vector<std::string> seen() {
    std::lock_guard lock(mutex);
    return lines;
  }
};

/// A server and what it reports.
struct Served {
  explicit Served(TcpStoreOptions asked = {}) : options(std::move(asked)) {
    options.report = [reports = reports](const std::string &line) {
      std::lock_guard lock(reports->mutex);
      reports->lines.push_back(line);
    };
    StatusOr<std::unique_ptr<StoreServer>> started = serveStore(options);
    EXPECT_TRUE(started.ok()) << started.status().message();
    if (!started.ok())
      return;
    server = started.take();
    options.port = server->port();
    options.timeout = std::chrono::milliseconds(10000);
  }

  std::unique_ptr<Store> connect() const {
    StatusOr<std::unique_ptr<Store>> store = connectStore(options);
    EXPECT_TRUE(store.ok()) << store.status().message();
    return store.ok() ? store.take() : nullptr;
  }

  /// What a client with these changes is told.
  std::string refusal(const std::function<void(TcpStoreOptions &)> &change) const {
    TcpStoreOptions changed = options;
    change(changed);
    StatusOr<std::unique_ptr<Store>> store = connectStore(changed);
    EXPECT_FALSE(store.ok());
    return store.status().message();
  }

  bool works() const {
    std::unique_ptr<Store> store = connect();
    return store && store->set("works", "yes").ok() && store->get("works", within(5000)).ok();
  }

  std::shared_ptr<Reports> reports = std::make_shared<Reports>();
  TcpStoreOptions options;
  std::unique_ptr<StoreServer> server;
};

/// A client that does what it likes.
class RawClient {
public:
  explicit RawClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
  }

  int socket() const { return socket_.get(); }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0)
        return; // the server may hang up
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }

  std::string receive(size_t size) {
    std::string bytes(size, '\0');
    ssize_t received = ::recv(socket_.get(), bytes.data(), size, MSG_WAITALL);
    bytes.resize(received < 0 ? 0 : static_cast<size_t>(received));
    return bytes;
  }

  /// Nothing more comes, and soon.
  bool closedWithin(int milliseconds) {
    Deadline deadline = within(milliseconds);
    char byte;
    while (waitFor(socket_.get(), POLLIN, deadline))
      if (::recv(socket_.get(), &byte, 1, 0) <= 0)
        return true;
    return false;
  }

  /// The handshake as it should be; returns the frame that was sent.
  std::string join(std::string_view secret = "") {
    std::string greeting = receive(kGreetingSize);
    EXPECT_EQ(greeting.substr(0, kGreeting.size()), kGreeting);
    std::string serverNonce = greeting.substr(kGreetingSize - kDigestSize), nonce(kDigestSize, 'n');
    sealer = std::make_unique<FrameSealer>(frameKey(secret, false, serverNonce, nonce));
    std::string hello = sealer->seal(FrameType::Hello, BodyWriter().raw(nonce).number(0).number(0).bytes());
    send(hello);
    return hello;
  }

  std::unique_ptr<FrameSealer> sealer;

private:
  FileDescriptor socket_;
};

constexpr size_t emptyFrame = 4 + 1 + 8 + kDigestSize;

std::string setFrame(FrameSealer &sealer, std::string_view key, std::string_view value) {
  return sealer.seal(FrameType::Set, BodyWriter().text(key).text(value).bytes());
}

std::function<std::unique_ptr<Store>()> connections(const std::string &secret) {
  TcpStoreOptions options;
  options.secret = secret;
  auto served = std::make_shared<Served>(options);
  return [served] { return served->connect(); };
}

} // namespace

INSTANTIATE_TEST_SUITE_P(Tcp, StoreTest,
                         ::testing::Values(StoreKind{"open", [] { return connections(""); }},
                                           StoreKind{"secret", [] { return connections("open sesame"); }}));

TEST(TcpStore, HmacIsTheOneOfRfc4231) {
  EXPECT_EQ(hex(view(hmac("Jefe", "what do ya want for nothing?"))),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex(view(hmac(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"))),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(hex(view(sha256("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(TcpStore, WrongSecretIsRefused) {
  TcpStoreOptions options;
  options.secret = "right";
  Served served(options);
  EXPECT_THAT(served.refusal([](TcpStoreOptions &o) { o.secret = "wrong"; }),
              AllOf(HasSubstr("refused by the store at 127.0.0.1:"), HasSubstr("DLC_SECRET_FILE")));
  EXPECT_THAT(served.refusal([](TcpStoreOptions &o) { o.secret = ""; }), HasSubstr("refused by the store"));
  EXPECT_THAT(served.reports->seen(),
              AllOf(SizeIs(2), Each(AllOf(HasSubstr("refused 127.0.0.1:"), HasSubstr("wrong secret")))));
  EXPECT_TRUE(served.works());
}

TEST(TcpStore, AnotherGenerationIsRefused) {
  TcpStoreOptions options;
  options.generation = 3;
  Served served(options);
  EXPECT_THAT(served.refusal([](TcpStoreOptions &o) {
    o.generation = 2;
    o.rank = 5;
  }),
              HasSubstr("rank 5 is of generation 2, the store of generation 3"));
  EXPECT_TRUE(served.works());
}

TEST(TcpStore, ListensToOthersOnlyWithASecret) {
  TcpStoreOptions options;
  options.address = "0.0.0.0";
  StatusOr<std::unique_ptr<StoreServer>> server = serveStore(options);
  EXPECT_EQ(server.status().code(), StatusCode::InvalidInput);
  EXPECT_THAT(server.status().message(),
              AllOf(HasSubstr("refuses to listen on 0.0.0.0"), HasSubstr("DLC_SECRET_FILE")));
  options.secret = "s";
  EXPECT_TRUE(serveStore(options).ok());
}

TEST(TcpStore, APortInUseNamesItsOwner) {
  Served served;
  StatusOr<std::unique_ptr<StoreServer>> second = serveStore(served.options);
  EXPECT_THAT(second.status().message(),
              AllOf(HasSubstr("port in use: cannot listen on 127.0.0.1:" + std::to_string(served.options.port)),
                    HasSubstr("pid " + std::to_string(::getpid()))));
}

TEST(TcpStore, AForeignAddressIsNamed) {
  TcpStoreOptions options;
  options.address = "192.0.2.1"; // for documentation only, RFC 5737
  options.secret = "s";
  EXPECT_THAT(serveStore(options).status().message(), HasSubstr("it is no address of this host"));
}

TEST(TcpStore, ConnectingGivesUpAtTheLimit) {
  Served served;
  TcpStoreOptions options = served.options;
  served.server.reset();
  options.timeout = std::chrono::milliseconds(200);
  StatusOr<std::unique_ptr<Store>> store = connectStore(options);
  EXPECT_EQ(store.status().code(), StatusCode::PeerFailed);
  EXPECT_THAT(store.status().message(), AllOf(HasSubstr("within 200 ms"), HasSubstr("does rank 0 run")));
}

TEST(TcpStore, ClientsMayComeBeforeTheServer) {
  TcpStoreOptions options;
  {
    options.port = Served().options.port;
  }
  options.timeout = std::chrono::milliseconds(10000);
  auto client = std::async(std::launch::async, [options] { return connectStore(options).ok(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  Served served(options);
  EXPECT_TRUE(client.get());
}

TEST(TcpStore, ALostServerEndsWaits) {
  Served served;
  std::unique_ptr<Store> store = served.connect();
  auto waits = std::async(std::launch::async, [&] { return store->get("never", within(60000)).status(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  served.server.reset();
  Status status = waits.get();
  EXPECT_EQ(status.code(), StatusCode::PeerFailed);
  EXPECT_THAT(status.message(), HasSubstr("lost the store at 127.0.0.1:"));
  EXPECT_EQ(store->set("k", "v").code(), StatusCode::PeerFailed);
}

TEST(TcpStore, TheLastReplyArrivesAlthoughTheServerEnds) {
  for (int i = 0; i < 20; ++i) {
    Served served;
    std::unique_ptr<Store> store = served.connect(), other = served.connect();
    auto waits = std::async(std::launch::async, [&] { return store->get("done", within(60000)).status(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ASSERT_TRUE(other->set("done", "").ok());
    served.server.reset();
    EXPECT_TRUE(waits.get().ok());
  }
}

TEST(TcpStore, WhatIsNoStoreIsNamed) {
  FileDescriptor listener(::socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(::listen(listener.get(), 4), 0);
  TcpStoreOptions options;
  options.port = boundPort(listener.get());
  options.timeout = std::chrono::milliseconds(5000);
  auto answer = [&](const std::string &text) {
    auto client = std::async(std::launch::async, [&] { return connectStore(options).status(); });
    FileDescriptor peer(::accept(listener.get(), nullptr, nullptr));
    EXPECT_EQ(::send(peer.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    return client.get().message();
  };
  EXPECT_THAT(answer("HTTP/1.1 400 Bad Request"), HasSubstr("is no dlc store"));
  std::string nonce(kDigestSize, 'n');
  EXPECT_THAT(answer(BodyWriter().raw(kGreeting).number(kStoreVersion + 1, 4).raw(nonce).bytes()),
              HasSubstr("version " + std::to_string(kStoreVersion + 1) + ", this rank speaks version"));
  std::string greeting = BodyWriter().raw(kGreeting).number(kStoreVersion, 4).raw(nonce).bytes();
  std::string forged = FrameSealer(frameKey("guess", true, nonce, nonce)).seal(FrameType::Welcome, "");
  EXPECT_THAT(answer(greeting + forged), HasSubstr("does not know the secret"));
  EXPECT_THAT(answer(greeting + std::string(4, '\xff')), HasSubstr("a frame of 4294967299 bytes"));
}

TEST(TcpStoreHostile, GarbageIsRefusedAndReported) {
  Served served;
  for (const std::string &text :
       {std::string("GET / HTTP/1.1\r\n"), std::string(4, '\xff'), std::string("\1\0\0\0", 4)}) {
    RawClient client(served.options.port);
    client.send(text + std::string(600, 'x'));
    EXPECT_TRUE(client.closedWithin(2000));
  }
  EXPECT_THAT(served.reports->seen(), AllOf(SizeIs(3), Each(HasSubstr("no client of a store"))));
  EXPECT_TRUE(served.works());
}

TEST(TcpStoreHostile, RandomBytesNeverStopTheServer) {
  Served served;
  uint64_t state = 1;
  for (int i = 0; i < 300; ++i) {
    std::string bytes;
    for (int k = 0; k < 150; ++k)
      bytes += static_cast<char>((state = state * 6364136223846793005U + 1442695040888963407U) >> 56U);
    if (i % 2 != 0)
      bytes.replace(0, 4, std::string("\x64\0\0\0", 4)); // a length that fits
    RawClient(served.options.port).send(bytes);
  }
  EXPECT_TRUE(served.works());
  EXPECT_LE(served.reports->seen().size(), 16U) << "a flood of lines helps nobody";
}

TEST(TcpStoreHostile, ASignedFrameOfWrongShapeIsRefused) {
  Served served;
  auto afterJoin = [&](const std::function<std::string(FrameSealer &)> &make) {
    RawClient client(served.options.port);
    client.join();
    EXPECT_EQ(client.receive(emptyFrame).size(), emptyFrame);
    client.send(make(*client.sealer));
    return client.closedWithin(2000);
  };
  EXPECT_TRUE(afterJoin([](FrameSealer &s) { return s.seal(FrameType::Set, ""); }));
  EXPECT_TRUE(afterJoin([](FrameSealer &s) { return s.seal(static_cast<FrameType>(99), ""); }));
  EXPECT_TRUE(afterJoin([](FrameSealer &s) { return s.seal(FrameType::Hello, ""); }));
  EXPECT_TRUE(afterJoin([](FrameSealer &s) { return s.seal(FrameType::Get, BodyWriter().number(1).bytes()); }));
  EXPECT_TRUE(afterJoin([](FrameSealer &s) { // a key longer than the frame
    return s.seal(FrameType::Set, BodyWriter().number(0xffffffff, 4).raw("k").bytes());
  }));
  EXPECT_TRUE(afterJoin([](FrameSealer &s) { // bytes behind the value
    return s.seal(FrameType::Set, BodyWriter().text("k").text("v").number(1).bytes());
  }));
  EXPECT_TRUE(afterJoin([](FrameSealer &) { return std::string("\xff\xff\xff\xff", 4); }));
  EXPECT_TRUE(afterJoin([](FrameSealer &) { return std::string("\0\0\0\0", 4); }));
  EXPECT_TRUE(served.works());
}

TEST(TcpStoreHostile, ChangedAndRepeatedFramesAreRefused) {
  Served served;
  {
    RawClient client(served.options.port);
    client.join();
    std::string frame = setFrame(*client.sealer, "k", "v");
    client.send(frame);
    ASSERT_EQ(client.receive(2 * emptyFrame + 8).size(), 2 * emptyFrame + 8); // welcome and reply
    client.send(frame);
    EXPECT_TRUE(client.closedWithin(2000));
  }
  {
    RawClient client(served.options.port);
    client.join();
    std::string frame = setFrame(*client.sealer, "k", "w");
    frame[frame.size() - kDigestSize - 1] ^= 1;
    client.send(frame);
    EXPECT_TRUE(client.closedWithin(2000));
  }
  EXPECT_EQ(*served.connect()->get("k", within(5000)), "v");
  EXPECT_THAT(served.reports->seen(),
              ::testing::ElementsAre(HasSubstr("a repeated frame"), HasSubstr("a wrong signature")));
}

TEST(TcpStoreHostile, AHelloOfAnotherConnectionIsRefused) {
  TcpStoreOptions options;
  options.secret = "s";
  Served served(options);
  RawClient first(served.options.port), second(served.options.port);
  std::string hello = first.join("s");
  EXPECT_EQ(first.receive(emptyFrame).size(), emptyFrame);
  second.send(hello);
  EXPECT_EQ(second.receive(kGreetingSize + 4).substr(kGreetingSize), std::string(4, '\0')) << "refused, and no more";
  EXPECT_TRUE(second.closedWithin(2000));
}

TEST(TcpStoreHostile, SilentPeersDoNotKeepOthersOut) {
  Served served;
  std::vector<std::unique_ptr<RawClient>> silent;
  for (int i = 0; i < 80; ++i) // more than may wait at once
    silent.push_back(std::make_unique<RawClient>(served.options.port));
  EXPECT_TRUE(served.works()) << "after the limit of the silent ones";
  EXPECT_TRUE(silent[0]->closedWithin(10000));
}

TEST(TcpStoreHostile, APeerThatSendsByteByByteIsServed) {
  Served served;
  RawClient client(served.options.port);
  client.join();
  for (char byte : setFrame(*client.sealer, "slow", "v"))
    client.send({&byte, 1});
  EXPECT_EQ(*served.connect()->get("slow", within(5000)), "v");
}

TEST(TcpStoreHostile, APeerThatReadsNothingHoldsUpNobody) {
  Served served;
  std::unique_ptr<Store> store = served.connect();
  ASSERT_TRUE(store->set("large", std::string(kLongestStoreValue, 'v')).ok());
  RawClient client(served.options.port);
  client.join();
  for (int i = 0; i < 200; ++i) // 200 MiB of replies, if the server made them all
    client.send(client.sealer->seal(FrameType::Get, BodyWriter().number(0).text("large").bytes()));
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(store->add("n", 1).ok());
  size_t received = client.receive(200 * kLongestStoreValue).size();
  EXPECT_EQ(received, 200 * kLongestStoreValue) << "served as soon as it reads";
}

TEST(TcpStore, ManyClientsWaitAtOnce) {
  Served served;
  constexpr int clients = 100;
  std::vector<std::thread> threads;
  std::atomic<int> answered = 0;
  threads.reserve(clients);
  for (int i = 0; i < clients; ++i)
    threads.emplace_back([&] {
      std::unique_ptr<Store> store = served.connect();
      if (store && store->add("there", 1).ok() && store->get("go", within(20000)).ok())
        ++answered;
    });
  std::unique_ptr<Store> store = served.connect();
  std::string there;
  while (there != std::to_string(clients)) {
    StatusOr<std::string> next = store->watch("there", there, within(20000));
    ASSERT_TRUE(next.ok()) << next.status().message();
    there = *next;
  }
  EXPECT_TRUE(store->set("go", "").ok());
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(answered, clients);
}

TEST(TcpStore, AStoppedServerIsSilentNotEndless) {
  int ports[2];
  ASSERT_EQ(::pipe(ports), 0);
  pid_t child = ::fork();
  if (child == 0) {
    StatusOr<std::unique_ptr<StoreServer>> server = serveStore({});
    int port = server.ok() ? (*server)->port() : 0;
    (void)!::write(ports[1], &port, sizeof port);
    ::pause();
    ::_exit(0);
  }
  TcpStoreOptions options;
  ASSERT_EQ(::read(ports[0], &options.port, sizeof options.port), static_cast<ssize_t>(sizeof options.port));
  options.timeout = std::chrono::milliseconds(1000);
  StatusOr<std::unique_ptr<Store>> store = connectStore(options);
  ASSERT_TRUE(store.ok()) << store.status().message();
  ::kill(child, SIGSTOP);
  ASSERT_EQ(::waitpid(child, nullptr, WUNTRACED), child);
  Status status = (*store)->set("k", "v");
  EXPECT_EQ(status.code(), StatusCode::PeerFailed);
  EXPECT_THAT(status.message(), HasSubstr("does not answer"));
  EXPECT_THAT(connectStore(options).status().message(), HasSubstr("it accepts but says nothing"));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ports[0]);
  ::close(ports[1]);
}
