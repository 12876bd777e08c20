//===- Settings.h - a framework's file as a list of keys and values -------===//
//
// All formats meet here: a file of any syntax is a list of settings with
// dotted keys ("parallelism.tensor_parallel_degree"), and a list of settings is
// written in any syntax. What the keys mean is the formats' affair.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_PLANNING_EXPORT_SETTINGS_H
#define TESSERA_LIB_PLANNING_EXPORT_SETTINGS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tessera::exports {

struct Setting {
  std::string key;
  llvm::json::Value value; ///< never an object
  int line = 0;            ///< 0: not known
};
using Settings = std::vector<Setting>;

/// Command-line arguments as they stand in a shell script, or a file of them.
enum class Syntax { Arguments, Yaml, Toml, Json };

/// Fails with "WHERE:LINE: ..." on what is not well formed.
llvm::Expected<Settings> readSettings(Syntax syntax, llvm::StringRef text,
                                      llvm::StringRef where);
/// `comments` go in front, in syntaxes that have them.
std::string writeSettings(Syntax syntax, llvm::ArrayRef<Setting> settings,
                          llvm::ArrayRef<std::string> comments);

// One pair for each syntax, in the file of its name.
llvm::Expected<Settings> readArguments(llvm::StringRef, llvm::StringRef where);
llvm::Expected<Settings> readYaml(llvm::StringRef, llvm::StringRef where);
llvm::Expected<Settings> readToml(llvm::StringRef, llvm::StringRef where);
llvm::Expected<Settings> readJsonSettings(llvm::StringRef,
                                          llvm::StringRef where);
std::string writeArguments(llvm::ArrayRef<Setting>,
                           llvm::ArrayRef<std::string> comments);
std::string writeYaml(llvm::ArrayRef<Setting>,
                      llvm::ArrayRef<std::string> comments);
std::string writeToml(llvm::ArrayRef<Setting>,
                      llvm::ArrayRef<std::string> comments);
std::string writeJson(llvm::ArrayRef<Setting>);

/// The value as a message shows it.
std::string shown(const llvm::json::Value &value);

const Setting *findSetting(llvm::ArrayRef<Setting> settings,
                           llvm::StringRef key);
/// Whether some key is `section` or lies in it.
bool hasSection(llvm::ArrayRef<Setting> settings, llvm::StringRef section);

/// The entries right below `prefix` ("a.b."), in order of their first
/// appearance: `leaf` gets the values, `section` what has entries of its own,
/// with the prefix of these.
void forEachEntry(
    llvm::ArrayRef<Setting> settings, llvm::StringRef prefix,
    llvm::function_ref<void(llvm::StringRef name, const llvm::json::Value &)>
        leaf,
    llvm::function_ref<void(llvm::StringRef name, llvm::StringRef prefix)>
        section);

/// Takes typed values out of settings. The first failure is kept and returned
/// by `takeError`; later calls return nothing. Null counts as absent.
class SettingsReader {
public:
  SettingsReader(llvm::ArrayRef<Setting> settings, llvm::StringRef where)
      : settings(settings), where(where.str()) {}
  ~SettingsReader() { llvm::consumeError(std::move(error)); }
  SettingsReader(const SettingsReader &) = delete;

  std::optional<int64_t> integer(llvm::StringRef key, int64_t least = 1);
  std::optional<bool> flag(llvm::StringRef key);
  std::optional<std::string> text(llvm::StringRef key);
  /// The value as it stands, or null.
  const Setting *raw(llvm::StringRef key);
  /// The texts of a list, or the one text.
  std::vector<std::string> texts(llvm::StringRef key);
  /// Settings that nobody has asked for; those that are ignored are among them.
  std::vector<const Setting *> unread() const;
  /// Marks keys as known although nothing is made of them.
  void ignore(llvm::ArrayRef<llvm::StringLiteral> keys);

  /// One of `names`; its index.
  std::optional<size_t> choice(llvm::StringRef key,
                               llvm::ArrayRef<llvm::StringLiteral> names);

  void fail(llvm::StringRef key, const llvm::Twine &message);
  /// A failure that no single key is to blame for.
  void failWhole(const llvm::Twine &message);
  bool failed() const { return hasFailed; }
  llvm::Error takeError() { return std::move(error); }

  /// Fails on keys of `section` (everything below it) that nobody asked for.
  void checkSection(llvm::StringRef section);
  /// Fails on keys that look like a slip of the pen of one asked for.
  void checkNearMisses();

private:
  std::string at(llvm::StringRef key) const;
  void raise(const llvm::Twine &message);

  llvm::ArrayRef<Setting> settings;
  std::string where;
  std::set<std::string> known, asked;
  llvm::Error error = llvm::Error::success();
  bool hasFailed = false;
};

} // namespace tessera::exports

#endif // TESSERA_LIB_PLANNING_EXPORT_SETTINGS_H
