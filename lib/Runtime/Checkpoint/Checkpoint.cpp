//===- Checkpoint.cpp - a folder, an index or one file --------------------===//
//
// Finds the safetensors files of a checkpoint and joins their tables. The
// index (`model.safetensors.index.json`) maps tensor names to file names in
// its own folder.
//
//===----------------------------------------------------------------------===//
#include "../EditDistance.h"
#include "tessera/Runtime/Checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace tessera::rt {

namespace fs = std::filesystem;

namespace {
using Json = nlohmann::json;
using Table = std::map<std::string, TensorInfo>;

bool endsWith(const std::string &text, const char *suffix) {
  std::string s(suffix);
  return text.size() >= s.size() &&
         text.compare(text.size() - s.size(), s.size(), s) == 0;
}

Status addFile(const std::string &path, Table &table) {
  auto tensors = readSafetensors(path);
  if (!tensors)
    return tensors.status();
  for (TensorInfo &tensor : *tensors) {
    std::string name = tensor.name;
    table.emplace(std::move(name), std::move(tensor));
  }
  return Status::success();
}

Status addIndex(const std::string &path, Table &table) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.status();
  const char *text = (*file)->data();
  Json root = Json::parse(text, text + (*file)->size(), nullptr,
                          /*allow_exceptions=*/false);
  if (root.is_discarded() || !root.is_object())
    return failure("'", path, "' is not valid JSON");
  if (!root.contains("weight_map") || !root["weight_map"].is_object())
    return failure("'", path, "' has no object 'weight_map'");
  std::map<std::string, std::vector<std::string>> byFile;
  for (const auto &[name, value] : root["weight_map"].items()) {
    if (!value.is_string())
      return failure("'", path, "': weight_map entry '", name,
                     "' is no file name");
    std::string shard = value.get<std::string>();
    if (shard.empty() || fs::path(shard).filename() != fs::path(shard))
      return failure("'", path, "': weight_map sends '", name, "' to '", shard,
                     "', expected the name of a file beside the index");
    byFile[shard].push_back(name);
  }
  for (const auto &[shard, names] : byFile) {
    std::string shardPath = (fs::path(path).parent_path() / shard).string();
    Table shardTable;
    if (Status s = addFile(shardPath, shardTable))
      return failure(s.message(), " (listed by '", path, "')");
    for (const std::string &name : names) {
      auto it = shardTable.find(name);
      if (it == shardTable.end())
        return failure("'", path, "' says that '", shard, "' holds tensor '",
                       name, "', but it does not");
      table.emplace(name, std::move(it->second));
    }
  }
  return Status::success();
}

/// What to read in a folder, or why there is nothing.
Expected<std::string> findInFolder(const std::string &folder) {
  for (const char *name : {"model.safetensors.index.json", "model.safetensors"})
    if (fs::exists(fs::path(folder) / name))
      return (fs::path(folder) / name).string();
  std::vector<std::string> found;
  std::string pickled;
  for (const auto &entry : fs::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    if (endsWith(name, ".safetensors") ||
        endsWith(name, ".safetensors.index.json"))
      found.push_back(entry.path().string());
    if (endsWith(name, ".bin") || endsWith(name, ".pt") ||
        endsWith(name, ".pth"))
      pickled = name;
  }
  if (found.size() == 1)
    return found.front();
  if (found.size() > 1)
    return failure("'", folder, "' holds ", found.size(),
                   " safetensors files but neither model.safetensors nor "
                   "model.safetensors.index.json; name the file to read");
  if (!pickled.empty())
    return failure("'", folder, "' holds no safetensors file (but '", pickled,
                   "': save the model with save_pretrained(..., "
                   "safe_serialization=True))");
  return failure("'", folder,
                 "' holds no safetensors file: expected "
                 "model.safetensors or "
                 "model.safetensors.index.json");
}

Expected<std::string> resolve(const std::string &path) {
  std::error_code ec;
  if (!fs::exists(path, ec))
    return failure("checkpoint '", path, "' does not exist");
  if (fs::is_directory(path, ec))
    return findInFolder(path);
  return path;
}
} // namespace

Expected<Checkpoint> Checkpoint::open(const std::string &path) {
  try {
    auto file = resolve(path);
    if (!file)
      return file.status();
    Checkpoint checkpoint;
    checkpoint.root = path;
    Status s = endsWith(*file, ".json") ? addIndex(*file, checkpoint.table)
                                        : addFile(*file, checkpoint.table);
    if (s)
      return s;
    return checkpoint;
  } catch (const std::exception &e) {
    return failure("cannot read checkpoint '", path, "': ", e.what());
  }
}

const TensorInfo *Checkpoint::find(const std::string &name) const {
  auto it = table.find(name);
  return it == table.end() ? nullptr : &it->second;
}

std::string Checkpoint::nearest(const std::string &name) const {
  size_t limit = std::max<size_t>(8, name.size() / 3), best = limit + 1;
  std::string answer;
  for (const auto &[candidate, info] : table) {
    size_t distance = editDistance(name, candidate, limit);
    if (distance < best) {
      best = distance;
      answer = candidate;
    }
  }
  return answer;
}

} // namespace tessera::rt
