#include "routing/route_table.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <set>
#include <stdexcept>

#include "mote/method.hpp"
#include "syntax/bytes.hpp"
#include "syntax/characters.hpp"
#include "syntax/target.hpp"

namespace mote {
namespace {

[[noreturn]] void reject(std::string_view pattern, std::string_view why) {
  throw std::invalid_argument("mote::Router: pattern \"" + std::string(pattern) +
                              "\": " + std::string(why));
}

// A hash of the length and the last bytes, in which paths differ most. The table holds a program's
// own routes: nobody can fill it with collisions.
std::size_t hash(std::uint64_t last, std::size_t size) noexcept {
  return static_cast<std::size_t>(((last ^ size) * 0x9E3779B97F4A7C15U) >> 32U);
}

void add_to_allow(std::string_view method, std::string& allow) {
  if (!allow.empty()) allow += ", ";
  allow += method;
}

}  // namespace

struct RouteTable::MethodEntry {
  std::string name;
  Method method;
  Endpoint endpoint;
  std::vector<std::string> parameters;
};

struct RouteTable::Resource {
  std::vector<std::unique_ptr<MethodEntry>> methods;
  // By method, with GET's entry for HEAD where HEAD has none; those of extensions are not here.
  std::array<const MethodEntry*, static_cast<std::size_t>(Method::Extension) + 1> known{};

  void add(std::unique_ptr<MethodEntry> entry) {
    const Method method = entry->method;
    if (method != Method::Extension) known[static_cast<std::size_t>(method)] = entry.get();
    if (method == Method::Get && find(Method::Head, "HEAD") == nullptr) {
      known[static_cast<std::size_t>(Method::Head)] = entry.get();
    }
    methods.push_back(std::move(entry));
  }

  [[nodiscard]] const MethodEntry* find(Method method, std::string_view name) const noexcept {
    for (const auto& entry : methods) {
      if (entry->method == method && (method != Method::Extension || entry->name == name)) {
        return entry.get();
      }
    }
    return nullptr;
  }
  // HEAD is GET without the content, where it has no handler of its own.
  [[nodiscard]] const MethodEntry* answering(const Request& request) const noexcept {
    if (request.method() == Method::Extension) [[unlikely]]
      return find(Method::Extension, request.method_name());
    return known[static_cast<std::size_t>(request.method())];
  }
};

struct RouteTable::Node {
  std::map<std::string, std::unique_ptr<Node>, std::less<>> literals;
  std::unique_ptr<Node> parameter;
  std::unique_ptr<Node> rest;  // {name...}
  Resource resource;
};

struct RouteTable::Search {
  RequestBuilder& builder;
  std::array<std::string_view, Request::kMaxParameters> captured{};
  std::size_t captures = 0;
  const MethodEntry* entry = nullptr;
  std::set<std::string_view> allowed{};
};

RouteTable::RouteTable() : root_(std::make_unique<Node>()) {}
RouteTable::~RouteTable() = default;

RouteTable::Node& RouteTable::insert(std::string_view pattern, std::vector<std::string>& names) {
  if (pattern.empty() || pattern.front() != '/') reject(pattern, "must start with \"/\"");
  Node* node = root_.get();
  std::string_view rest = pattern;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::string_view segment = rest.substr(0, end);
    rest.remove_prefix(end);
    std::unique_ptr<Node>* next = nullptr;
    if (segment.size() > 2 && segment.front() == '{' && segment.back() == '}') {
      std::string_view name = segment.substr(1, segment.size() - 2);
      const bool takes_rest = name.ends_with("...");
      if (takes_rest) name.remove_suffix(3);
      if (!syntax::is_token(name)) reject(pattern, "a parameter's name is not a token");
      if (takes_rest && !rest.empty()) reject(pattern, "\"...\" must be in the last segment");
      if (names.size() == Request::kMaxParameters) reject(pattern, "has too many parameters");
      names.emplace_back(name);
      next = takes_rest ? &node->rest : &node->parameter;
    } else {
      syntax::Target checked;
      const std::string path = "/" + std::string(segment);
      if (syntax::parse_target(Method::Get, path, checked) || checked.path != path) {
        reject(pattern, "a segment holds characters that a path cannot have");
      }
      std::string normal;
      syntax::normalise_path(path, normal);
      next = &node->literals[normal.substr(1)];
    }
    if (*next == nullptr) *next = std::make_unique<Node>();
    node = next->get();
  }
  return *node;
}

void RouteTable::add(std::string_view method, std::string_view pattern, Endpoint endpoint) {
  if (!syntax::is_token(method)) {
    throw std::invalid_argument("mote::Router: \"" + std::string(method) + "\" is not a method");
  }
  if (!endpoint.handler && !endpoint.factory) reject(pattern, "has no handler");
  std::vector<std::string> names;
  Resource& resource = insert(pattern, names).resource;
  const Method known = method_from_name(method);
  if (resource.find(known, method) != nullptr) {
    reject(pattern, "has a handler for " + std::string(method) + " already");
  }
  const bool is_literal = names.empty();
  auto entry = std::make_unique<MethodEntry>(
      MethodEntry{std::string(method), known, std::move(endpoint), std::move(names)});
  resource.add(std::move(entry));
  if (!is_literal) return;
  std::string path;
  syntax::normalise_path(pattern, path);
  if (literal(path) != nullptr) return;
  const std::uint64_t last = syntax::last_eight(path);
  literals_.push_back({last, std::move(path), &resource});
  rehash();
}

void RouteTable::rehash() {
  buckets_.assign(std::max<std::size_t>(buckets_.size(), 8), 0);
  while (buckets_.size() < literals_.size() * 2) buckets_.resize(buckets_.size() * 2);
  const std::size_t mask = buckets_.size() - 1;
  for (std::size_t i = 0; i < literals_.size(); ++i) {
    std::size_t at = hash(literals_[i].last, literals_[i].path.size()) & mask;
    while (buckets_[at] != 0) at = (at + 1) & mask;
    buckets_[at] = static_cast<std::uint32_t>(i + 1);
  }
}

inline const RouteTable::Resource* RouteTable::literal(std::string_view path) const noexcept {
  if (buckets_.empty()) return nullptr;
  const std::size_t mask = buckets_.size() - 1;
  const std::uint64_t last = syntax::last_eight(path);
  for (std::size_t at = hash(last, path.size()) & mask; buckets_[at] != 0; at = (at + 1) & mask) {
    const Literal& candidate = literals_[buckets_[at] - 1];
    if (candidate.last != last || candidate.path.size() != path.size()) continue;
    if (path.size() <= sizeof last || candidate.path == path) [[likely]]
      return candidate.resource;
  }
  return nullptr;
}

bool RouteTable::visit(const Resource& resource, Search& search) {
  search.entry = resource.answering(search.builder.request());
  if (search.entry != nullptr) return true;
  for (const auto& entry : resource.methods) search.allowed.insert(entry->name);
  return false;
}

// `rest` is what is left of the path, from a slash on.
bool RouteTable::search(const Node& node, std::string_view rest, Search& search) const {
  if (rest.empty()) return visit(node.resource, search);
  rest.remove_prefix(1);
  const std::size_t end = std::min(rest.find('/'), rest.size());
  const std::string_view segment = rest.substr(0, end);
  const auto next = node.literals.find(segment);
  if (next != node.literals.end() && this->search(*next->second, rest.substr(end), search)) {
    return true;
  }
  const std::size_t captures = search.captures;
  if (node.parameter != nullptr && !segment.empty()) {
    search.captured[search.captures++] = segment;
    if (this->search(*node.parameter, rest.substr(end), search)) return true;
    search.captures = captures;
  }
  if (node.rest != nullptr) {
    search.captured[search.captures++] = rest;
    if (visit(node.rest->resource, search)) return true;
    search.captures = captures;
  }
  return false;
}

[[gnu::flatten]] RouteMatch RouteTable::find(RequestBuilder& builder, std::string& allow) const {
  const Request& request = builder.request();
  if (const Resource* resource = literal(request.path()); resource != nullptr) [[likely]] {
    const MethodEntry* entry = resource->answering(request);
    if (entry != nullptr) return {&entry->endpoint, true};
  }
  return find_in_tree(builder, allow);
}

RouteMatch RouteTable::find_in_tree(RequestBuilder& builder, std::string& allow) const {
  const Request& request = builder.request();
  Search state{.builder = builder};
  if (!request.path().empty() && search(*root_, request.path(), state)) {
    for (std::size_t i = 0; i < state.captures; ++i) {
      builder.add_parameter(state.entry->parameters[i], state.captured[i]);
    }
    return {&state.entry->endpoint, true};
  }
  if (state.allowed.empty()) return {};
  if (state.allowed.contains("GET")) state.allowed.insert("HEAD");
  state.allowed.insert("OPTIONS");
  allow.clear();
  for (const std::string_view method : state.allowed) add_to_allow(method, allow);
  return {nullptr, true};
}

namespace {

template <typename Node, typename Visitor>
void for_each_method(const Node& node, const Visitor& visitor) {
  for (const auto& entry : node.resource.methods) visitor(entry->name);
  for (const auto& [segment, child] : node.literals) for_each_method(*child, visitor);
  if (node.parameter != nullptr) for_each_method(*node.parameter, visitor);
  if (node.rest != nullptr) for_each_method(*node.rest, visitor);
}

}  // namespace

bool RouteTable::implements(std::string_view method) const noexcept {
  bool found = false;
  for_each_method(*root_, [&](const std::string& name) { found |= name == method; });
  return found;
}

std::string RouteTable::all_methods() const {
  std::set<std::string_view> methods{"OPTIONS"};
  for_each_method(*root_, [&](const std::string& name) { methods.insert(name); });
  if (methods.contains("GET")) methods.insert("HEAD");
  std::string allow;
  for (const std::string_view method : methods) add_to_allow(method, allow);
  return allow;
}

}  // namespace mote
