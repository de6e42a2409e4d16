#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "message/request_builder.hpp"
#include "mote/router.hpp"

namespace mote {

/// What one method of one path pattern leads to: a handler or a stream factory.
struct Endpoint {
  Handler handler;
  StreamFactory factory;
  RouteOptions options;
};

struct RouteMatch {
  const Endpoint* endpoint = nullptr;
  /// The path leads somewhere, whatever the method.
  bool path_found = false;
};

/// The patterns of a Router, as a tree of segments with a hash table of the literal paths in front.
class RouteTable {
 public:
  RouteTable();
  ~RouteTable();

  /// See Router::on.
  void add(std::string_view method, std::string_view pattern, Endpoint endpoint);

  /// Finds the endpoint for the builder's request and sets its path parameters. Where the path is
  /// found but not the method, `allow` becomes the list of methods that are.
  RouteMatch find(RequestBuilder& builder, std::string& allow) const;

  /// Whether some route answers this method.
  [[nodiscard]] bool implements(std::string_view method) const noexcept;
  /// The methods of all routes, as an Allow field's value.
  [[nodiscard]] std::string all_methods() const;

 private:
  struct MethodEntry;
  struct Resource;
  struct Node;
  struct Search;

  Node& insert(std::string_view pattern, std::vector<std::string>& names);
  [[gnu::noinline]] RouteMatch find_in_tree(RequestBuilder& builder, std::string& allow) const;
  bool search(const Node& node, std::string_view rest, Search& search) const;
  static bool visit(const Resource& resource, Search& search);
  const Resource* literal(std::string_view path) const noexcept;
  void rehash();

  std::unique_ptr<Node> root_;
  struct Literal {       // a path without parameters
    std::uint64_t last;  // bytes, see syntax::last_eight
    std::string path;
    const Resource* resource;
  };

  std::vector<Literal> literals_;
  std::vector<std::uint32_t> buckets_;  // indices into literals_ plus one; a power of two
};

}  // namespace mote
