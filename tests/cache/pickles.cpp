#include "pickles.h"

#include "base/sha256.h"
#include "support.h"

#include <algorithm>

#include <elf.h>
#include <fmt/format.h>

namespace racelab::cache::test {

namespace {

std::string counted(std::size_t n, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i)
    text += static_cast<char>(n >> (8 * i));
  return text;
}

template <typename T> void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// base32 in capital letters, as Triton calls its folders.
std::string capital(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

} // namespace

Pickle& Pickle::text(const std::string& value) {
  m_opcodes += value.size() < 256 ? "\x8c" + counted(value.size(), 1) : "X" + counted(value.size(), 4);
  m_opcodes += value + "\x94";
  return *this;
}

Pickle& Pickle::bytes(const std::string& value) {
  m_opcodes += "B" + counted(value.size(), 4) + value + "\x94";
  return *this;
}

Pickle& Pickle::again(int memorised) {
  m_opcodes += "h" + counted(static_cast<std::size_t>(memorised), 1);
  return *this;
}

Pickle& Pickle::raw(const std::string& opcodes) {
  m_opcodes += opcodes;
  return *this;
}

std::string Pickle::str() const {
  return "\x80\x04" + m_opcodes + ".";
}

std::string debug_line(char digest_letter, const std::string& text) {
  return "[" + std::string(51, digest_letter) + "] " + text;
}

std::string torch_digest(const std::string& bytes) {
  return base::base32(base::sha256(bytes)).substr(0, 51);
}

std::string key_of(char first, char letter) {
  return first + std::string(51, letter);
}

std::string elf_file(const std::string& kernel, const std::string& source, unsigned machine) {
  const std::string names = std::string("\0.shstrtab\0.symtab\0.strtab\0", 27) + ".text." + kernel + '\0';
  const std::string strings = std::string(1, '\0') + source + '\0';
  std::string symbols(sizeof(Elf64_Sym), '\0');
  Elf64_Sym file{};
  file.st_name = 1;
  file.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FILE);
  append(symbols, file);
  const std::string code = "code of " + kernel;
  const std::string contents[] = {"", names, symbols, strings, code};
  const unsigned types[] = {SHT_NULL, SHT_STRTAB, SHT_SYMTAB, SHT_STRTAB, SHT_PROGBITS}, name_at[] = {0, 1, 11, 19, 27};
  std::string body, table;
  for (int i = 0; i < 5; ++i) {
    Elf64_Shdr section{};
    section.sh_name = name_at[i];
    section.sh_type = types[i];
    section.sh_offset = sizeof(Elf64_Ehdr) + body.size();
    section.sh_size = contents[i].size();
    section.sh_link = types[i] == SHT_SYMTAB ? 3 : 0;
    append(table, section);
    body += contents[i];
  }
  Elf64_Ehdr header{};
  std::copy_n(ELFMAG, SELFMAG, header.e_ident);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_machine = static_cast<Elf64_Half>(machine);
  header.e_shoff = sizeof header + body.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 5;
  header.e_shstrndx = 1;
  std::string bytes;
  append(bytes, header);
  return bytes + body + table;
}

SmallCache put_small_cache(const std::string& root, char letter, const std::string& torch) {
  SmallCache cache;
  const std::string source = fmt::format("# AOT ID: ['{}_inference']\nimport torch\n", letter);
  const std::string stem = "c" + torch_digest(source.substr(0, source.size() - 1)); // without the newline
  cache.code = "inductor/" + stem.substr(1, 2) + "/" + stem + ".py";
  put(root + "/" + cache.code, source);

  const std::string kernel = fmt::format("triton_poi_fused_{}", letter);
  const auto hash = base::sha256(kernel);
  const std::string folder = capital(base::base32(hash));
  const std::string cubin = elf_file(kernel, "", 190) /* EM_CUDA */;
  const std::string metadata =
      fmt::format(R"({{"hash": "{}", "triton_version": "3.6.0", "name": "{}"}})", base::hex(hash), kernel);
  const std::string base = "triton/" + folder + "/";
  cache.cubin = base + kernel + ".cubin";
  cache.metadata = base + kernel + ".json";
  cache.group = base + "__grp__" + kernel + ".json";
  put(root + "/" + cache.cubin, cubin);
  put(root + "/" + cache.metadata, metadata);
  put(root + "/" + cache.group,
      fmt::format(R"({{"child_paths": {{"{0}.cubin": "{1}/{0}.cubin", "{0}.json": "{1}/{0}.json"}}}})", kernel,
                  "/elsewhere/" + folder));

  const std::string graph_key = key_of('f', letter), aot_key = key_of('a', letter);
  const std::string program =
      "\nimport os\nos.environ['TORCHINDUCTOR_CACHE_DIR'] = '/elsewhere/inductor'\n# torch version: " + torch +
      "\n# torch cuda version: 13.0\n# torch git version: 0123456789abcdef\n";
  const std::string lines = debug_line(letter, "torch_version: \xef\xbf\xbd");
  const std::string graph = Pickle()
                                .text("cache_key")
                                .text(stem)
                                .text("_fx_graph_cache_key")
                                .text(graph_key)
                                .text(program)
                                .text(lines)
                                .text("kernel_hash")
                                .text(folder)
                                .text("filename")
                                .text(kernel + ".cubin")
                                .text("payload")
                                .bytes(cubin)
                                .again(8)
                                .text(kernel + ".json")
                                .again(10)
                                .bytes(metadata)
                                .str(); // "filename", "payload" once more
  cache.graph = "inductor/fxgraph/" + graph_key.substr(1, 2) + "/" + graph_key + "/" + torch_digest(graph);
  put(root + "/" + cache.graph, graph);
  const std::string aot = Pickle().text("fx_graph_cache_info").text(graph_key).text(lines).str();
  cache.aot = "inductor/aotautograd/" + aot_key + "/" + torch_digest(aot);
  put(root + "/" + cache.aot, aot);
  put(root + "/inductor/locks/" + stem + ".lock", "");
  return cache;
}

} // namespace racelab::cache::test
