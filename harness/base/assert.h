#pragma once
// Assertions that stay on in release builds: a wrong verdict is worse than a crash.
#include <cstdio>
#include <cstdlib>

#define RACELAB_ASSERT(condition)                                                                                      \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      std::fprintf(stderr, "racelab: internal error: %s:%d: %s\n", __FILE__, __LINE__, #condition);                    \
      std::abort();                                                                                                    \
    }                                                                                                                  \
  } while (false)
