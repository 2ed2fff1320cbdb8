// The table of keys, sorted by section. Those of sandbox-runtime settings keep the names that they have there.
#include "policy/keys.h"

#include <array>
#include <vector>

#include "base/text.h"

namespace hutch::policy {

namespace {

using enum KeyType;
using enum Meaning;

constexpr std::string_view kMacOnly = "of macOS alone";
constexpr std::string_view kWindowsOnly = "of Windows alone";
constexpr std::string_view kBuiltIn = "hutch has this built in";
constexpr std::string_view kOwnAuthority = "each sandbox has an authority of its own, which is made for it";

constexpr Key kKeys[] = {
    {"$schema", kString, kHonoured, "where an editor finds the JSON Schema"},
    {"enabled", kBoolean, kHonoured, "false: commands run on the backend none, which isolates nothing"},
    {"backend", kString, kHonoured, "none, bwrap, namespace, user, container or vm"},
    {"image", kString, kLater, "needs the container or the vm backend, which this version does not have"},

    {"filesystem", kObject, kHonoured, "which files may be read and written"},
    {"filesystem.denyRead", kPaths, kHonoured, "hidden"},
    {"filesystem.allowRead", kPaths, kHonoured, "readable although a denyRead above it hides it"},
    {"filesystem.allowWrite", kPaths, kHonoured, "writable; nothing else is"},
    {"filesystem.denyWrite", kPaths, kHonoured, "never writable, whatever allowWrite says"},
    {"filesystem.credentials", kPaths, kHonoured, "never readable, and never asked for, besides those built in"},
    {"filesystem.private", kPaths, kHonoured, "directories of the sandbox's own: empty at the start, gone at the end"},
    {"filesystem.allowGitConfig", kBoolean, kHonoured, "lifts the write deny of .git/config"},
    {"filesystem.outerRepository", kBoolean, kHonoured,
     "false: the repository of a linked worktree or a submodule does not come along"},
    {"filesystem.allowObeyed", kStrings, kHonoured, "names of the list of obeyed files that may be written"},
    {"filesystem.disabled", kBoolean, kRefused,
     "would take every file rule away; write allowWrite [\"/\"] if that is meant"},

    {"network", kNetwork, kHonoured, "what may be reached; \"none\", \"outbound\", \"host\", or rules"},
    {"network.allowedDomains", kDomains, kHonoured, "names and addresses that may be reached"},
    {"network.deniedDomains", kDomains, kHonoured, "names and addresses that may not, checked first"},
    {"network.deniedDomainReasons", kStringMap, kHonoured, "what is said when an entry of deniedDomains denies"},
    {"network.strictAllowlist", kBoolean, kHonoured, "names that no list holds are denied without a question"},
    {"network.deniedResolvedAddresses", kStrings, kHonoured, "addresses and ranges that no allowed name may lead to"},
    {"network.dnsDenial", kDnsDenial, kHonoured, "the answer to a DNS query for a name that may not be reached"},
    {"network.rules", kHttpRules, kHonoured, "requests that a host is let through; TLS is opened for that"},
    {"network.allowedUdp", kUdp, kHonoured, "hosts and ports that UDP may reach, each HOST:PORT"},
    {"network.allowedIcmp", kAny, kRefused,
     "ICMP cannot be let out: a socket that sends it on this host takes privileges that hutch does not have"},
    {"network.hostPorts", kPorts, kHonoured, "ports of this host's loopback that the sandbox finds at its own"},
    {"network.publish", kPublished, kHonoured, "ports of the sandbox that are found at this host's loopback"},
    {"network.allowUnixSockets", kStrings, kHonoured, "Unix sockets of this host that may be connected to"},
    {"network.allowAllUnixSockets", kBoolean, kRefused,
     "would open every socket of the host, docker's included; name single ones in allowUnixSockets"},
    {"network.allowLocalBinding", kBoolean, kNoMeaning,
     "the sandbox has a loopback of its own, where it may always bind"},
    {"network.allowMachLookup", kStrings, kNoMeaning, kMacOnly},
    {"network.httpProxyPort", kInteger, kOtherwise, "the egress gateway takes the place of an outside proxy", 1, 65535},
    {"network.socksProxyPort", kInteger, kOtherwise, "the egress gateway takes the place of an outside proxy", 1,
     65535},
    {"network.mitmProxy", kAny, kOtherwise, "the egress gateway opens TLS itself where a rule needs it"},
    {"network.filterRequest", kAny, kRefused, "is a function of the library; network.rules decides about requests"},
    {"network.allowPlaintextHeaderSet", kAny, kOtherwise, "network.rules says for which hosts headers are set"},
    {"network.stripResponseHeaders", kStrings, kLater, "responses are passed on as they are in this version"},
    {"network.refuseOpaqueTunnels", kBoolean, kLater,
     "cannot be said of all hosts at once; TLS is opened for the hosts of network.rules"},
    {"network.requireHostMatch", kBoolean, kOtherwise, "a request that names another host is always refused"},
    {"network.ambiguousRequestTarget", kString, kOtherwise, "a target that can be read in two ways is always refused"},
    {"network.tlsTerminate", kObject, kHonoured, "how TLS is opened; it is for the hosts of network.rules alone"},
    {"network.tlsTerminate.excludeDomains", kDomains, kHonoured, "hosts whose TLS is never opened"},
    {"network.tlsTerminate.extraCaCertPaths", kStrings, kHonoured,
     "certificates of authorities that are trusted besides this host's"},
    {"network.tlsTerminate.caCertPath", kString, kOtherwise, kOwnAuthority},
    {"network.tlsTerminate.caKeyPath", kString, kOtherwise, kOwnAuthority},
    {"network.tlsTerminate.maxTunnels", kInteger, kOtherwise, "hutch has limits of its own", 1, 65536},
    {"network.tlsTerminate.handshakeTimeoutMs", kInteger, kOtherwise, "hutch has limits of its own", 100, 600'000},
    {"network.parentProxy", kObject, kHonoured, "the proxies to go out through; absent: those of your environment"},
    {"network.parentProxy.http", kString, kHonoured, "the proxy for port 80: http://user:password@host:port"},
    {"network.parentProxy.https", kString, kHonoured, "the proxy for every other port"},
    {"network.parentProxy.noProxy", kWords, kHonoured, "hosts that are reached directly, as in NO_PROXY"},

    {"limits", kObject, kHonoured, "what one command may use"},
    {"limits.timeout", kDuration, kHonoured, "wall time"},
    {"limits.idleTimeout", kDuration, kHonoured, "time without output"},
    {"limits.memory", kSize, kHonoured, "memory of all its processes"},
    {"limits.cpus", kCpus, kHonoured, "CPUs, in parts of one"},
    {"limits.pids", kInteger, kHonoured, "processes and threads", 1, 4'194'304},
    {"limits.tmpSize", kSize, kHonoured, "size of /tmp and of each other private directory"},
    {"limits.disk", kSize, kHonoured,
     "what may be written over the image; of the backend container alone, where the engine's storage can hold it"},
    {"limits.outputBytes", kSize, kHonoured, "bytes of output that are kept"},

    {"environment", kEnvironment, kHonoured, "variables besides those that every command has"},
    {"secrets", kList, kLater, "needs the secret store, which this version does not have"},
    {"mounts", kList, kLater, "needs a backend with an image, which this version does not have"},

    {"ask", kAsk, kHonoured, "what is a question, \"ask\", and what is refused at once, \"deny\"; false: all of it"},
    {"ask.read", kString, kOtherwise, "this is not asked in this version: the answer is no"},
    {"ask.write", kString, kOtherwise, "this is not asked in this version: the answer is no"},
    {"ask.connect", kString, kHonoured, "hosts that no list holds"},
    {"ask.socket", kString, kHonoured, "Unix sockets of this host that no list holds"},
    {"ask.timeout", kDuration, kHonoured, "how long a question waits; without an answer it is no"},

    {"mandatoryDenySearchDepth", kInteger, kHonoured, "how deep the names that are never writable are looked for", 1,
     10},
    {"enableWeakerNestedSandbox", kBoolean, kRefused, "would leave the host's /proc visible"},
    {"allowNestedUserNamespaces", kBoolean, kOtherwise,
     "never given: a nested namespace could undo the sandbox's mounts"},
    {"credentials", kAny, kLater,
     "is done otherwise: hide a file by filesystem.denyRead; a variable is not passed unless environment names it"},
    {"ignoreViolations", kAny, kNoMeaning, "every refusal is reported"},
    {"ripgrep", kAny, kNoMeaning, kBuiltIn},
    {"seccomp", kAny, kNoMeaning, kBuiltIn},
    {"bwrapPath", kString, kNoMeaning, "bwrap is looked for in PATH"},
    {"socatPath", kString, kNoMeaning, kBuiltIn},
    {"javaAgentJarPath", kString, kNoMeaning, "programs need not know of the gateway"},
    {"git", kAny, kNoMeaning, "the user's id is the same inside, so git takes its directories for safe"},
    {"enableWeakerNetworkIsolation", kBoolean, kNoMeaning, kMacOnly},
    {"allowAppleEvents", kBoolean, kNoMeaning, kMacOnly},
    {"allowPty", kBoolean, kNoMeaning, "of macOS alone; a command on a terminal always has one of its own"},
    {"windows", kAny, kNoMeaning, kWindowsOnly},
};

std::string_view section_of(std::string_view name) { return name.substr(0, name.rfind('.') + 1); }

}  // namespace

std::span<const Key> all_keys() { return kKeys; }

const Key* find_key(std::string_view name) {
  for (const Key& key : kKeys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

std::string unknown_key_message(std::string_view name) {
  // The last dot of a table's name is a level; one inside the file's own key is not, so the section is the longest
  // known.
  std::string_view section;
  for (const Key& key : kKeys) {
    const std::string_view candidate = section_of(key.name);
    if (name.starts_with(candidate) && candidate.size() > section.size()) section = candidate;
  }
  const std::string_view own = name.substr(section.size());
  std::vector<std::string_view> siblings;
  for (const Key& key : kKeys) {
    const std::string_view known_section = section_of(key.name);
    if (known_section == section) siblings.push_back(key.name.substr(section.size()));
  }
  std::string message = cat({printable(name), ": unknown key"});
  if (const auto near = nearest(own, siblings)) return cat({message, "; did you mean ", *near, "?"});
  // The right name in the wrong section.
  for (const Key& key : kKeys) {
    if (key.name.substr(section_of(key.name).size()) == own) return cat({message, "; did you mean ", key.name, "?"});
  }
  return cat({message, "; known ones here are ", join({siblings.begin(), siblings.end()}, ", ")});
}

std::string_view name_of(KeyType type) {
  switch (type) {
    case kBoolean: return "true or false";
    case kInteger: return "a whole number";
    case kString: return "a string";
    case kStrings: return "a list of strings";
    case kStringMap: return "an object of strings";
    case kPaths: return "a list of paths";
    case kDomains: return "a list of domain names";
    case kDuration: return "a time such as \"30s\" or a number of seconds";
    case kSize: return "a size such as \"512M\" or a number of bytes";
    case kCpus: return "a number of CPUs such as 1.5";
    case kEnvironment: return "an object of names with a value, or true for the caller's own";
    case kObject: return "an object";
    case kAsk: return "an object or false";
    case kNetwork: return "an object, a list of domain names, \"none\", \"outbound\" or \"host\"";
    case kWords: return "a string or a list of strings";
    case kDnsDenial: return "\"refused\" or \"nxdomain\"";
    case kHttpRules: return "a list of rules";
    case kUdp: return "a list of hosts with a port";
    case kPorts: return "a list of ports";
    case kPublished: return "a list of pairs of ports";
    case kList: return "a list";
    case kAny: return "anything";
  }
  return "";
}

}  // namespace hutch::policy
