#pragma once

namespace dlc::codegen {

// Minimax polynomials, lowest power first; coefficients are machine numbers of the type they serve. The intervals and
// the program that found them: tools/math/fit.sollya.

inline constexpr double kExpF32[] = {0x1p-1, 0x1.5554dcp-3, 0x1.555568p-5, 0x1.120c3cp-7, 0x1.6caf06p-10};
inline constexpr double kExpF64[] = {
    0x1.0000000000001p-1,  0x1.555555555554dp-3,  0x1.5555555553ccp-5,   0x1.11111111144dcp-7,  0x1.6c16c178b8402p-10,
    0x1.a01a018c3a683p-13, 0x1.a019b87ebc237p-16, 0x1.71de59bf5f6dep-19, 0x1.28921bee12cc2p-22, 0x1.aeac814438e7fp-26};
inline constexpr double kExpm1F32[] = {0x1p-1,        0x1.555556p-3,  0x1.5555p-5,
                                       0x1.110feep-7, 0x1.6d3092p-10, 0x1.a270ccp-13};
inline constexpr double kExpm1F64[] = {0x1p-1,
                                       0x1.5555555555557p-3,
                                       0x1.5555555555552p-5,
                                       0x1.1111111110046p-7,
                                       0x1.6c16c16c1893bp-10,
                                       0x1.a01a01ac26ef3p-13,
                                       0x1.a01a0197bce7bp-16,
                                       0x1.71de018a576b5p-19,
                                       0x1.27e500ced335ap-22,
                                       0x1.af4f1b79c0fc2p-26,
                                       0x1.1f332fa351ec8p-29};
inline constexpr double kExp2[] = {0x1.ffffffffabbccp-1,  0x1.62e42ff116284p-1, 0x1.ebfbe0a4be89bp-3,
                                   0x1.c6b08aaf2fd1dp-5,  0x1.3b29dc40d1fb4p-7, 0x1.5d8a708773cc9p-10,
                                   0x1.446a1fddc880cp-13, 0x1.fe1784c35a78ap-17};
inline constexpr double kLogF32[] = {0x1.555554p-2,  -0x1.fffff8p-3, 0x1.999d44p-3,  -0x1.555c8cp-3, 0x1.23d54ep-3,
                                     -0x1.fcbfeap-4, 0x1.de32ecp-4,  -0x1.d778e8p-4, 0x1.20456cp-4};
inline constexpr double kLogF64[] = {0x1.5555555555555p-1, 0x1.9999999999d59p-2, 0x1.249249242ee2bp-2,
                                     0x1.c71c725c5bef7p-3, 0x1.745cdb76b5db4p-3, 0x1.3b2158d078d54p-3,
                                     0x1.0f4a20b8debfdp-3, 0x1.102337ece1e4ep-3};
inline constexpr double kLog2[] = {0x1.71547652b824fp1,  0x1.ec709dc5409adp-1, 0x1.2776c28e0318fp-1,
                                   0x1.a61a333d0b2aap-2, 0x1.479493c89aff3p-2, 0x1.21bc611f10813p-2};
inline constexpr double kLogTail[] = {0x1.999999999999ap-2, 0x1.2492492492205p-2, 0x1.c71c71c7b45cap-3,
                                      0x1.745d16c6e7127p-3, 0x1.3b13e97e61328p-3, 0x1.1102e61627201p-3,
                                      0x1.e5f5327a4e68p-4,  0x1.5ef636ff2fe98p-4, 0x1.08813e4c048a6p-2};
inline constexpr double kTanhF32[] = {-0x1.555552p-2, 0x1.110e02p-3, -0x1.b92196p-5, 0x1.57e86ap-6, -0x1.8f080ap-8};
inline constexpr double kErfF32[] = {0x1.06eba6p-3,  -0x1.8126ecp-2, 0x1.ce1b6cp-4,
                                     -0x1.b6989cp-6, 0x1.47831cp-8,  -0x1.3b2486p-11};
inline constexpr double kErfcF32[] = {0x1.5dfdf6p-12, -0x1.215c06p0, -0x1.436748p-1,  -0x1.c3d14cp-4, 0x1.b3c186p-6,
                                      -0x1.3d8f5cp-8, 0x1.47043p-11, -0x1.ae1e5ep-15, 0x1.2824bp-19,  -0x1.cbd0d6p-26};
inline constexpr double kErfF64[] = {0x1.06eba8214db69p-3,   -0x1.812746b0379fdp-2,  0x1.ce2f21a04362dp-4,
                                     -0x1.b82ce312abf08p-6,  0x1.565bcd12991cp-8,    -0x1.c02db49b09506p-11,
                                     0x1.f9a335388d2f5p-14,  -0x1.f4d333884b5cap-17, 0x1.b9ee95850f6f5p-20,
                                     -0x1.5f9828c55da46p-23, 0x1.fc78cbccf615fp-27,  -0x1.46794feb17129p-30,
                                     0x1.2978304267b48p-34};
inline constexpr double kErfcxF64[] = {
    0x1.058671b52c775p-2,   -0x1.b57034efd3f77p-2, 0x1.eeea7dc8a7c74p-3,   -0x1.437f0b68bfcfep-4,
    0x1.e9471590e1596p-9,   0x1.ca95ed50ffdb7p-8,  -0x1.bc259f9dfbfddp-11, -0x1.016b5d7845a8dp-10,
    0x1.6d5810dc5ee36p-15,  0x1.6dab118fa9c19p-13, 0x1.ce6f2efa4e5c4p-16,  -0x1.cfb11acfc0c73p-16,
    -0x1.dbee251314ce9p-17, 0x1.f3d8a15bf7bdbp-20, 0x1.192d6989c9dc6p-18,  -0x1.18666955f8919p-22};
inline constexpr double kSinF32[] = {-0x1.555555545a74p-3, 0x1.11110de88425ap-7, -0x1.a013a03bab5c7p-13,
                                     0x1.6dbc020fc7e4dp-19};
inline constexpr double kSinF64[] = {-0x1.5555555555555p-3, 0x1.1111111110c79p-7,   -0x1.a01a019e9ec4dp-13,
                                     0x1.71de37aedaa89p-19, -0x1.ae601e31b55a8p-26, 0x1.5e109ff910586p-33};
inline constexpr double kCosF32[] = {0x1.5555543f12a43p-5, -0x1.6c12cee668697p-10, 0x1.9bd6e8f2580c7p-16};
inline constexpr double kCosF64[] = {0x1.5555555555555p-5,   -0x1.6c16c16c168c9p-10, 0x1.a01a019f37fa7p-16,
                                     -0x1.27e4fa0294bd1p-22, 0x1.1eeb578302a43p-29,  -0x1.90734d02b3f33p-37};
inline constexpr double kAtanF32[] = {-0x1.5555554c308b2p-2, 0x1.99997b61b2442p-3,  -0x1.248a241f11a3fp-3,
                                      0x1.c57d2bbf9351fp-4,  -0x1.614d406a715dep-4, 0x1.9db075dd2d548p-5};
inline constexpr double kAtanF64[] = {
    -0x1.5555555555555p-2, 0x1.9999999999806p-3,  -0x1.2492492480989p-3, 0x1.c71c71bb94d4cp-4,  -0x1.745d1529e54f1p-4,
    0x1.3b1373fe62ce5p-4,  -0x1.110c82cfbc75ap-4, 0x1.e16c908bc7c98p-5,  -0x1.ab1fca392f781p-5, 0x1.6dfc02ac218abp-5,
    -0x1.04e5e6ca19ca5p-5, 0x1.6f0f59718ed9ep-7,  0x1.10466562b3317p-8};

// 2/pi in pieces of 29 bits: each times an f32 is exact in double.
inline constexpr double kTwoOverPi[] = {0x1.45f306dp-1,   0x1.9391054p-30,  0x1.4fe13abp-59, 0x1.d1f534dp-88,
                                        0x1.b81b6c5p-117, 0x1.5993c43p-148, 0x1.2083fcap-177};

} // namespace dlc::codegen
