#pragma once
// 64-bit little-endian ELF files (libraries, cubins) as far as a cache's inspection needs them. Bounds are checked;
// nothing is loaded.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace racelab::cache {

struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0;
  std::string_view content; // empty for those that take no room in the file
};

struct Elf {
  std::string error; // empty: header, tables and sections are within the file, and the file ends with one of them
  std::uint16_t machine = 0;
  std::vector<ElfSection> sections;
  std::vector<std::string_view> source_files; // the symbol table's, as compilers name them

  const ElfSection* find(std::string_view name) const;
};

constexpr std::uint16_t k_elf_cuda = 190; // EM_CUDA

Elf read_elf(std::string_view bytes);

// The texts of a section that are at least `least` printable characters long, up to `most` of them.
std::vector<std::string_view> printable_runs(std::string_view bytes, std::size_t least, std::size_t most);

} // namespace racelab::cache
