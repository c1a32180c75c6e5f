#pragma once
// Identities and cubins that no compiler has made.
#include "kernel_cache.h"

#include <string>

namespace kernel_compile::test {

Identity identity();

// An ELF file with a symbol table of one function, a note that names the release, and the architecture in its flags as
// CUDA 13 (or, `old_abi`, CUDA 12) writes it.
std::string cubin(int architecture, const std::string& function, const std::string& release, bool old_abi = false);

} // namespace kernel_compile::test
