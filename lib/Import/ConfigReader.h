//===- ConfigReader.h - fields of a config.json ---------------------------===//
//
// config.json comes from many versions of a Python library: fields are absent,
// null, spelled in an older way, integers written as floats. Each getter takes
// the spellings in order of preference; null counts as absent. The first
// failure is kept and ends the import; later getters return their default. What
// no getter asked for can be listed: a field that nobody reads may be a slip of
// the keyboard, or a part of the model that is left out.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_IMPORT_CONFIGREADER_H
#define LIB_IMPORT_CONFIGREADER_H

#include "tessera/Support/Error.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

class ConfigReader {
public:
  using Names = std::initializer_list<llvm::StringRef>;

  /// `where` begins every message: "'dir/config.json'".
  ConfigReader(const llvm::json::Object &object, std::string where,
               std::string &failure)
      : object(object), where(std::move(where)), failure(failure) {}

  /// An integer from `least` to `most`; fails where it is absent and there is
  /// no `otherwise`.
  int64_t integer(Names names, std::optional<int64_t> otherwise = std::nullopt,
                  int64_t least = 1, int64_t most = INT32_MAX) const;
  /// A finite number of at least `least`.
  double number(Names names, double otherwise,
                double least = std::numeric_limits<double>::lowest()) const;
  std::optional<double> maybeNumber(llvm::StringRef name) const;
  bool boolean(llvm::StringRef name, bool otherwise) const;
  std::string text(Names names, llvm::StringRef otherwise) const;
  /// The object `name`; null where absent.
  const llvm::json::Object *child(llvm::StringRef name) const;
  const llvm::json::Array *array(llvm::StringRef name) const;
  /// Whether the field is there and not null.
  bool has(llvm::StringRef name) const { return find({name}).second; }
  /// Whether the field is there and null.
  bool isNull(llvm::StringRef name) const {
    asked.insert(name);
    const llvm::json::Value *value = object.get(name);
    return value && value->kind() == llvm::json::Value::Null;
  }

  /// Fails where a flag has another value than the only supported one.
  void onlySupported(llvm::StringRef name, bool supported) const;
  /// A line for each field that no getter asked for and that says something:
  /// neither null, false, zero nor empty, nor in `neutral`, the fields that a
  /// model's graph does not depend on.
  std::vector<std::string> unread(const llvm::StringSet<> &neutral) const;

  /// Records a failure (the first one counts).
  void fail(const llvm::Twine &message) const;
  /// A failure about one field: "field 'name' <message>".
  void failField(llvm::StringRef name, const llvm::Twine &message) const;

  llvm::StringRef location() const { return where; }
  std::string &failureSlot() const { return failure; }

private:
  /// Name and value of the first spelling that is there.
  std::pair<llvm::StringRef, const llvm::json::Value *> find(Names names) const;

  const llvm::json::Object &object;
  std::string where;
  std::string &failure;
  mutable llvm::StringSet<> asked;
};

/// JSON text of a value, shortened for a message.
std::string describeJson(const llvm::json::Value &value);

} // namespace tessera

#endif // LIB_IMPORT_CONFIGREADER_H
