// The tools of secrets: whether there is one, and how one comes.
#include "base/text.h"
#include "tool/handlers.h"
#include "tool/steps.h"

namespace hutch::tool {

namespace {

Envelope stored_secret(const CallContext& context, const std::string& key) {
  Value::Object result = {{"stored", true}, {"key", key}};
  const auto use = context.use_of_secret ? context.use_of_secret(key) : std::optional<std::string>();
  if (use && *use) result.emplace("use", **use);
  return success(std::move(result));
}

}  // namespace

Envelope check_secret(const Call& call) {
  const std::string& key = call.arguments.text("key");
  if (!call.context.use_of_secret)
    return final_failure(Kind::kUnavailable, "There are no secrets here: this sandbox has no agent.");
  const auto use = call.context.use_of_secret(key);
  if (!use) return failed("Failed to look for the secret", use.error(), Retry::kYes);
  Value::Object result = {{"key", key}, {"exists", use->has_value()}};
  if (*use) result.emplace("use", **use);
  return success(std::move(result));
}

Envelope set_secret(const Call& call) {
  CallContext& context = call.context;
  if (!context.set_secret)
    return final_failure(Kind::kUnavailable, "There are no secrets here: this sandbox has no agent.");
  SecretWish wish{.key = call.arguments.text("key"),
                  .description = call.arguments.text("description"),
                  .instructions = call.arguments.text("instructions"),
                  .value = call.arguments.text("value")};
  const auto answer = context.set_secret(wish);
  if (!answer && answer.error().code == Code::kInvalidArgument) {
    return bad_argument(wish.value.empty() ? "key" : "value", answer.error().message,
                        "a variable's name that programs take no orders from, and text without NUL");
  }
  if (!answer) return failed("Failed to store the secret", answer.error(), Retry::kYes);
  switch (*answer) {
    case SecretAnswer::kStored: return stored_secret(context, wish.key);
    case SecretAnswer::kCancelled:
      return failure(Kind::kUserDenied, cat({"User cancelled the secret prompt for `", wish.key, "`."}));
    case SecretAnswer::kTimeout:
      return failure(Kind::kTimeout, cat({"The user has not given `", wish.key, "` in time."}));
    case SecretAnswer::kNobody: break;
  }
  return failure(Kind::kUnavailable, cat({"Nobody is there to be asked for `", wish.key,
                                          "`. Ask the user to type `hutch secret set --agent ", context.settings.name,
                                          " ", wish.key, "`, and look with `sandbox_secret_check` then."}));
}

}  // namespace hutch::tool
