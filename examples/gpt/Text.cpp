#include "Text.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <stdexcept>

using dlc::Tensor;

namespace {

std::string read(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file)
    throw std::runtime_error(path.string() + ": cannot be read");
  return text;
}

/// Texts to train on, and to judge by.
std::pair<std::string, std::string> parts(const std::filesystem::path &path) {
  if (!std::filesystem::is_directory(path)) {
    std::string text = read(path);
    size_t most = text.size() / 10 * 9;
    return {text.substr(0, most), text.substr(most)};
  }
  std::vector<std::string> texts;
  for (const auto &entry : std::filesystem::directory_iterator(path))
    if (entry.is_regular_file() && !entry.is_symlink() && entry.file_size() > 0)
      texts.push_back(read(entry.path()));
  std::sort(texts.begin(), texts.end(), [](const std::string &a, const std::string &b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  std::pair<std::string, std::string> result;
  for (size_t i = 0; i < texts.size(); ++i)
    (i % 5 == 3 ? result.second : result.first) += texts[i];
  return result;
}

} // namespace

Text::Text(const std::string &path) {
  auto [known, other] = parts(path);
  std::set<char> characters(known.begin(), known.end());
  characters.insert(' ');
  alphabet.assign(characters.begin(), characters.end());
  training = encode(known);
  judged = encode(other);
}

std::vector<int64_t> Text::encode(const std::string &text) const {
  std::vector<int64_t> numbers;
  numbers.reserve(text.size());
  for (char each : text) {
    size_t at = alphabet.find(each);
    numbers.push_back(int64_t(at == std::string::npos ? alphabet.find(' ') : at));
  }
  return numbers;
}

std::string Text::decode(const std::vector<int64_t> &numbers) const {
  std::string text;
  for (int64_t each : numbers)
    text += alphabet[size_t(each)];
  return text;
}

std::pair<Tensor, Tensor> Text::pieces(const std::vector<int64_t> &from, const std::vector<int64_t> &starts,
                                       int64_t length) const {
  std::vector<int64_t> now, next;
  for (int64_t start : starts) {
    now.insert(now.end(), from.begin() + start, from.begin() + start + length);
    next.insert(next.end(), from.begin() + start + 1, from.begin() + start + 1 + length);
  }
  dlc::Shape shape{int64_t(starts.size()), length};
  return {dlc::tensor(now, shape), dlc::tensor(next, shape)};
}

std::pair<Tensor, Tensor> Text::batch(int64_t count, int64_t length, uint64_t seed) const {
  if (int64_t(training.size()) <= length)
    throw std::runtime_error("the text is shorter than the context of " + std::to_string(length) + " characters");
  std::mt19937_64 random(seed);
  std::vector<int64_t> starts;
  for (int64_t i = 0; i < count; ++i)
    starts.push_back(int64_t(random() % (training.size() - size_t(length))));
  return pieces(training, starts, length);
}

std::vector<std::pair<Tensor, Tensor>> Text::validation(int64_t count, int64_t length) const {
  std::vector<std::pair<Tensor, Tensor>> batches;
  std::vector<int64_t> starts;
  for (int64_t start = 0; start + length < int64_t(judged.size()); start += length) {
    starts.push_back(start);
    if (int64_t(starts.size()) < count)
      continue;
    batches.push_back(pieces(judged, starts, length));
    starts.clear();
  }
  return batches;
}
