//===- ProgramFile.cpp - executables as files -----------------------------===//
//
// ELF: System V ABI, "Object Files"; all tables of a linked image lie inside
// the file, the section headers usually last, so a file that was cut short
// shows it. The checksum is FNV-1a (Fowler, Noll, Vo) over 8-byte words.
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/ProgramFile.h"
#include "Refusals.h"
#include "tessera/Runtime/Checkpoint.h"
#include "tessera/Runtime/Launch.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <elf.h>

namespace tessera::rt {

namespace {
struct Seal {
  char magic[16];
  uint64_t bytes;    ///< of the image before the seal
  uint64_t checksum; ///< of these
};
constexpr char sealMagic[17] = "TESSERA-SEAL-001";

uint64_t checksum(const char *data, uint64_t bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (uint64_t at = 0; at < bytes; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, data + at, std::min<uint64_t>(8, bytes - at));
    hash = (hash ^ word) * 0x100000001b3;
    hash ^= hash >> 29; // carries the high bytes of a word down
  }
  return hash;
}

/// A view of an ELF image; every access is checked.
struct Image {
  const char *data;
  uint64_t size;

  bool holds(uint64_t offset, uint64_t bytes) const {
    return offset <= size && bytes <= size - offset;
  }
  /// The `index`-th entry of a table, unless it lies outside.
  template <typename T>
  std::optional<T> entry(uint64_t table, uint64_t stride,
                         uint64_t index) const {
    uint64_t offset = table + stride * index;
    if (stride < sizeof(T) || offset < table || !holds(offset, sizeof(T)))
      return std::nullopt;
    T value;
    std::memcpy(&value, data + offset, sizeof value);
    return value;
  }
  bool isElf() const {
    return size >= SELFMAG && !memcmp(data, ELFMAG, SELFMAG);
  }
  std::optional<Elf64_Ehdr> header() const {
    auto head = entry<Elf64_Ehdr>(0, sizeof(Elf64_Ehdr), 0);
    return head && head->e_ident[EI_CLASS] == ELFCLASS64 ? head : std::nullopt;
  }
  /// First byte behind everything that the headers speak of; nothing if a
  /// table of headers lies outside the file itself.
  std::optional<uint64_t> end(const Elf64_Ehdr &head) const {
    uint64_t last = sizeof head;
    auto reach = [&](uint64_t offset, uint64_t bytes) {
      uint64_t to = 0;
      last = __builtin_add_overflow(offset, bytes, &to) ? UINT64_MAX
                                                        : std::max(last, to);
    };
    reach(head.e_shoff, uint64_t(head.e_shentsize) * head.e_shnum);
    for (unsigned i = 0; i < head.e_phnum; ++i) {
      auto segment = entry<Elf64_Phdr>(head.e_phoff, head.e_phentsize, i);
      if (!segment)
        return std::nullopt;
      reach(segment->p_offset, segment->p_filesz);
    }
    for (unsigned i = 0; i < head.e_shnum; ++i) {
      auto section = entry<Elf64_Shdr>(head.e_shoff, head.e_shentsize, i);
      if (!section)
        return std::nullopt;
      if (section->sh_type != SHT_NOBITS)
        reach(section->sh_offset, section->sh_size);
    }
    return last;
  }
};

constexpr const char compileAgain[] = "; copy or compile it again";
} // namespace

Status sealProgram(const std::string &path) {
  Seal seal;
  {
    auto file = MappedFile::open(path);
    if (!file)
      return file.status();
    std::memcpy(seal.magic, sealMagic, sizeof seal.magic);
    seal.bytes = (*file)->size();
    seal.checksum = checksum((*file)->data(), seal.bytes);
  }
  std::FILE *out = std::fopen(path.c_str(), "ab");
  bool good = out && std::fwrite(&seal, sizeof seal, 1, out) == 1;
  int code = errno;
  if (out && std::fclose(out) != 0 && good) {
    good = false;
    code = errno;
  }
  if (!good)
    return failure("cannot write '", path, "': ", std::strerror(code));
  return Status::success();
}

Status checkProgram(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.status();
  Image image{(*file)->data(), (*file)->size()};
  if (image.size == 0)
    return failure("'", path, "' is empty", compileAgain);
  if (!image.isElf())
    return Status::success();
  if (auto seal =
          image.size > sizeof(Seal)
              ? image.entry<Seal>(image.size - sizeof(Seal), sizeof(Seal), 0)
              : std::nullopt;
      seal && !memcmp(seal->magic, sealMagic, sizeof seal->magic)) {
    image.size -= sizeof(Seal);
    if (seal->bytes != image.size)
      return failure("'", path, "' is damaged: it was linked with ",
                     seal->bytes, " bytes and has ", image.size, compileAgain);
    if (seal->checksum != checksum(image.data, image.size))
      return failure("'", path,
                     "' is damaged: its bytes do not match its checksum",
                     compileAgain);
    return Status::success();
  }
  auto head = image.header();
  if (!head)
    return failure("'", path, "' is no 64-bit program or is cut short",
                   compileAgain);
  auto end = image.end(*head);
  if (!end)
    return failure("'", path, "' is cut short: it has ", image.size,
                   " bytes, its headers lie behind that", compileAgain);
  if (*end > image.size)
    return failure("'", path, "' is cut short: it has ", image.size,
                   " bytes, its headers tell of ", *end, compileAgain);
  return Status::success();
}

std::optional<std::string> manifestOf(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file)
    return std::nullopt;
  Image image{(*file)->data(), (*file)->size()};
  auto head = image.isElf() ? image.header() : std::nullopt;
  if (!head)
    return std::nullopt;
  auto names = image.entry<Elf64_Shdr>(head->e_shoff, head->e_shentsize,
                                       head->e_shstrndx);
  if (!names || !image.holds(names->sh_offset, names->sh_size))
    return std::nullopt;
  const size_t length = sizeof manifestSection; // with the zero
  for (unsigned i = 0; i < head->e_shnum; ++i) {
    auto section = image.entry<Elf64_Shdr>(head->e_shoff, head->e_shentsize, i);
    if (!section || section->sh_name > names->sh_size ||
        names->sh_size - section->sh_name < length ||
        memcmp(image.data + names->sh_offset + section->sh_name,
               manifestSection, length) != 0 ||
        !image.holds(section->sh_offset, section->sh_size))
      continue;
    const char *text = image.data + section->sh_offset;
    return std::string(text, strnlen(text, section->sh_size));
  }
  return std::nullopt;
}

std::optional<ProgramFacts> programFacts(const std::string &path) {
  std::optional<std::string> text = manifestOf(path);
  if (!text)
    return std::nullopt;
  auto manifest = parseManifest(*text);
  if (!manifest)
    return std::nullopt;
  return ProgramFacts{manifest->ranks(), manifest->kernels.size()};
}

std::optional<Refusal> whyNotStart(const std::string &path,
                                   const std::vector<std::string> &arguments,
                                   int ranks) {
  if (Status s = checkProgram(path))
    return Refusal{s.message(), exitFailure};
  std::optional<std::string> text = manifestOf(path);
  if (!text)
    return std::nullopt;
  auto manifest = parseManifest(*text);
  if (!manifest)
    return Refusal{manifest.message(), exitFailure};
  std::vector<const char *> argv{path.c_str()};
  for (const std::string &argument : arguments)
    argv.push_back(argument.c_str());
  auto options = parseOptions(static_cast<int>(argv.size()), argv.data());
  if (!options)
    return Refusal{options.message(), exitUsage};
  RankInfo info;
  info.worldSize = ranks;
  info.starter = "tessera run";
  return refuse(*manifest, *options, info);
}

} // namespace tessera::rt
