//===- Json.h - reading JSON objects with good messages -------------------===//
//
// A thin layer over llvm::json: every failure names the file, the path of the
// field, what was expected and what was there; fields that nobody asked for
// can be reported with the nearest known name.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_SUPPORT_JSON_H
#define TESSERA_SUPPORT_JSON_H

#include "tessera/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <set>
#include <string>

namespace tessera {

/// The byte at which brackets of JSON or MLIR text are nested deeper than a
/// parser that recurses should be given.
std::optional<size_t> findTooDeep(llvm::StringRef text);

/// Parses text; `what` names the file in the message.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text,
                                            llvm::StringRef what);

/// Prints JSON for people and programs: two spaces for each level, but lists of
/// numbers, texts and truth values on one line.
void printJson(const llvm::json::Value &value, llvm::raw_ostream &os);

/// A JSON object together with where it lies.
class JsonObject {
public:
  /// Fails where `value` is no object. `where` is, say, "cluster.json" or
  /// "cluster.json: chip".
  static llvm::Expected<JsonObject> get(const llvm::json::Value &value,
                                        llvm::StringRef where);

  /// An absent field leaves `out` alone; one of another kind fails.
  llvm::Error read(llvm::StringRef key, double &out) const;
  llvm::Error read(llvm::StringRef key, int64_t &out) const;
  llvm::Error read(llvm::StringRef key, bool &out) const;
  llvm::Error read(llvm::StringRef key, std::string &out) const;
  /// The same, but an absent field fails.
  template <typename T>
  llvm::Error require(llvm::StringRef key, T &out) const {
    if (!object->get(key))
      return makeError(where + ": field '" + key + "' is missing");
    return read(key, out);
  }
  /// An object inside; nullopt where absent.
  llvm::Expected<std::optional<JsonObject>> child(llvm::StringRef key) const;
  /// Fails on a field that no call above asked for.
  llvm::Error checkAllRead() const;

  const llvm::json::Object &raw() const { return *object; }
  llvm::StringRef location() const { return where; }
  /// Counts `key` as read.
  void note(llvm::StringRef key) const { known.insert(key.str()); }

private:
  JsonObject(const llvm::json::Object *object, std::string where)
      : object(object), where(std::move(where)) {}
  llvm::Error wrong(llvm::StringRef key, llvm::StringRef expected) const;

  const llvm::json::Object *object;
  std::string where;
  mutable std::set<std::string> known;
};

} // namespace tessera

#endif // TESSERA_SUPPORT_JSON_H
