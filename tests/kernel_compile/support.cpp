#include "support.h"

#include <array>
#include <cstring>

#include <elf.h>

namespace kernel_compile::test {

Identity identity() {
  return {.kernel = "scale",
          .source = "void scale() {}",
          .architecture = "sm_90",
          .options = "--fmad=false",
          .nvrtc_major = 13,
          .nvrtc_minor = 0};
}

namespace {

template <class T> void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

} // namespace

std::string cubin(int architecture, const std::string& function, const std::string& release, bool old_abi) {
  std::string names("\0", 1), symbols(sizeof(Elf64_Sym), '\0');
  Elf64_Sym symbol{};
  symbol.st_name = static_cast<Elf64_Word>(names.size());
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbol.st_size = 128;
  names += function + '\0';
  append(symbols, symbol);
  const std::string note = "Cuda compilation tools, release " + release + ", V" + release + ".88";

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_ABIVERSION] = old_abi ? 7 : 8;
  header.e_machine = EM_CUDA;
  header.e_flags = static_cast<Elf64_Word>(old_abi ? architecture : architecture << 8 | 0x4);
  header.e_shoff = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 4;

  std::array<Elf64_Shdr, 4> sections{};
  std::string content;
  const auto put = [&](std::size_t index, Elf64_Word type, const std::string& bytes) {
    sections[index].sh_type = type;
    sections[index].sh_offset = sizeof header + sizeof sections + content.size();
    sections[index].sh_size = bytes.size();
    content += bytes;
  };
  put(1, SHT_STRTAB, names);
  put(2, SHT_SYMTAB, symbols);
  put(3, SHT_NOTE, note);
  sections[2].sh_link = 1;

  std::string file;
  append(file, header);
  append(file, sections);
  return file + content;
}

} // namespace kernel_compile::test
