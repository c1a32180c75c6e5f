# Language standard, warnings and sanitizers, for every target of this project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

# Compile time over speed: nothing but the board is hot, and that asks for -O2 itself.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")

option(RACELAB_WERROR "Treat warnings as errors" OFF)
set(RACELAB_SANITIZE "" CACHE STRING "Sanitizers to build with: 'address,undefined' or 'thread'")
option(RACELAB_FUZZ "Build the fuzzers (tests/fuzz); needs clang++" OFF)

add_library(racelab_compiler INTERFACE)
target_compile_options(racelab_compiler INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wold-style-cast
                                                  $<$<BOOL:${RACELAB_WERROR}>:-Werror>)
# Paths of the machine that built it have no place in what is shipped.
target_compile_options(racelab_compiler INTERFACE -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
target_include_directories(racelab_compiler INTERFACE ${PROJECT_SOURCE_DIR}/harness ${PROJECT_BINARY_DIR}/generated)
# Assertions stay on in release builds: base/assert.h does not look at NDEBUG.

if(RACELAB_SANITIZE)
  add_compile_definitions(_GLIBCXX_ASSERTIONS) # an index beside an array ends the program, also in memory that is mapped
  add_compile_options(-fsanitize=${RACELAB_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RACELAB_SANITIZE})
endif()
if(RACELAB_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link) # the libraries tell a fuzzer which branches an input took
endif()
