#include "cache/elf.h"

#include <algorithm>
#include <cstring>

#include <elf.h>
#include <fmt/format.h>

namespace racelab::cache {

namespace {

constexpr std::size_t k_max_sections = 65536;

bool within(std::uint64_t offset, std::uint64_t size, std::size_t total) {
  return offset <= total && size <= total - offset;
}

template <typename T> T at(std::string_view bytes, std::uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

constexpr std::size_t k_max_name = 4096; // of a section or file
constexpr std::size_t k_max_sources = 1024;

// The text up to its NUL; empty where the offset is outside.
std::string_view text_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) {
    return {};
  }
  const std::string_view rest = table.substr(offset, k_max_name);
  return rest.substr(0, rest.find('\0'));
}

class Reader {
public:
  explicit Reader(std::string_view bytes) : m_bytes(bytes) {}

  Elf read() {
    if (!header() || !program_headers() || !section_headers()) {
      return std::move(m_elf);
    }
    name_sections();
    name_sources();
    if (m_end != m_bytes.size()) {
      m_elf.error = fmt::format("{} bytes follow its last part", m_bytes.size() - m_end);
    }
    return std::move(m_elf);
  }

private:
  bool fail(std::string why) {
    m_elf.error = std::move(why);
    return false;
  }

  bool header() {
    if (m_bytes.size() < sizeof m_header || m_bytes.substr(0, SELFMAG) != std::string_view(ELFMAG, SELFMAG)) {
      return fail(m_bytes.empty() ? "empty" : "does not begin as an ELF file");
    }
    m_header = at<Elf64_Ehdr>(m_bytes, 0);
    if (m_header.e_ident[EI_CLASS] != ELFCLASS64 || m_header.e_ident[EI_DATA] != ELFDATA2LSB ||
        m_header.e_ident[EI_VERSION] != EV_CURRENT || m_header.e_version != EV_CURRENT ||
        m_header.e_ehsize != sizeof(Elf64_Ehdr)) {
      return fail("its ELF header is not that of a 64-bit file");
    }
    m_elf.machine = m_header.e_machine;
    m_end = sizeof(Elf64_Ehdr);
    return true;
  }

  bool table(std::uint64_t offset, std::uint64_t count, std::uint64_t entry, std::uint64_t expected, const char* what) {
    if (count == 0) {
      return true;
    }
    if (entry != expected || count > k_max_sections || !within(offset, count * entry, m_bytes.size())) {
      return fail(fmt::format("its table of {} is not within the file", what));
    }
    m_end = std::max(m_end, static_cast<std::size_t>(offset + count * entry));
    return true;
  }

  bool program_headers() {
    if (!table(m_header.e_phoff, m_header.e_phnum, m_header.e_phentsize, sizeof(Elf64_Phdr), "segments")) {
      return false;
    }
    for (std::uint64_t i = 0; i < m_header.e_phnum; ++i) {
      const auto segment = at<Elf64_Phdr>(m_bytes, m_header.e_phoff + i * sizeof(Elf64_Phdr));
      if (!within(segment.p_offset, segment.p_filesz, m_bytes.size())) {
        return fail(fmt::format("segment {} is not within the file", i));
      }
    }
    return true;
  }

  bool section_headers() {
    if (!table(m_header.e_shoff, m_header.e_shnum, m_header.e_shentsize, sizeof(Elf64_Shdr), "sections")) {
      return false;
    }
    if (m_header.e_shnum == 0) {
      return fail("it has no sections");
    }
    for (std::uint64_t i = 0; i < m_header.e_shnum; ++i) {
      const auto section = at<Elf64_Shdr>(m_bytes, m_header.e_shoff + i * sizeof(Elf64_Shdr));
      m_headers.push_back(section);
      m_elf.sections.push_back({{}, section.sh_type, {}});
      if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) {
        continue;
      }
      if (!within(section.sh_offset, section.sh_size, m_bytes.size())) {
        return fail(fmt::format("section {} is not within the file", i));
      }
      m_elf.sections.back().content = m_bytes.substr(section.sh_offset, section.sh_size);
      m_end = std::max(m_end, static_cast<std::size_t>(section.sh_offset + section.sh_size));
    }
    if (m_header.e_shstrndx >= m_header.e_shnum) {
      return fail("its sections have no names");
    }
    return true;
  }

  void name_sections() {
    const std::string_view names = m_elf.sections[m_header.e_shstrndx].content;
    for (std::size_t i = 0; i < m_headers.size(); ++i) {
      m_elf.sections[i].name = text_at(names, m_headers[i].sh_name);
    }
  }

  void name_sources() {
    for (std::size_t i = 0; i < m_headers.size(); ++i) {
      if (m_headers[i].sh_type != SHT_SYMTAB || m_headers[i].sh_link >= m_elf.sections.size()) {
        continue;
      }
      const std::string_view symbols = m_elf.sections[i].content, names = m_elf.sections[m_headers[i].sh_link].content;
      for (std::size_t offset = 0;
           offset + sizeof(Elf64_Sym) <= symbols.size() && m_elf.source_files.size() < k_max_sources;
           offset += sizeof(Elf64_Sym)) {
        const auto symbol = at<Elf64_Sym>(symbols, offset);
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FILE) {
          m_elf.source_files.push_back(text_at(names, symbol.st_name));
        }
      }
    }
  }

  std::string_view m_bytes;
  Elf64_Ehdr m_header{};
  std::vector<Elf64_Shdr> m_headers;
  std::size_t m_end = 0; // of what is known to belong to the file
  Elf m_elf;
};

} // namespace

const ElfSection* Elf::find(std::string_view name) const {
  const auto section = std::find_if(sections.begin(), sections.end(), [&](const auto& s) { return s.name == name; });
  return section == sections.end() ? nullptr : &*section;
}

Elf read_elf(std::string_view bytes) {
  return Reader(bytes).read();
}

std::vector<std::string_view> printable_runs(std::string_view bytes, std::size_t least, std::size_t most) {
  std::vector<std::string_view> runs;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= bytes.size() && runs.size() < most; ++i) {
    const bool printable = i < bytes.size() && bytes[i] >= ' ' && bytes[i] <= '~';
    if (!printable) {
      if (i - from >= least) {
        runs.push_back(bytes.substr(from, i - from));
      }
      from = i + 1;
    }
  }
  return runs;
}

} // namespace racelab::cache
