#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "mote/request.hpp"
#include "mote/response.hpp"
#include "mote/stream.hpp"

namespace mote {

/// Answers one request. Called on a worker thread, by several workers at once if there are
/// several: captured state needs its own synchronisation. An exception becomes a 500.
using Handler = std::function<void(const Request&, Response&)>;

/// What may differ from route to route.
struct RouteOptions {
  /// Most bytes of content; the server's limit where it is not set. A stream's is unlimited
  /// where it is not set.
  std::optional<std::uint64_t> max_body{};
  /// Refuses content without Content-Length with 411 (RFC 9110 section 15.5.12).
  bool require_length = false;
};

class RouteTable;

/// Maps methods and path patterns to handlers.
///
/// A pattern is a path whose segments are literal, `{name}` (one segment, not empty) or, at the
/// end,
/// `{name...}` (the rest, may be empty). Literal segments win over parameters. HEAD is answered by
/// the GET handler and OPTIONS by the router unless a route says otherwise; a path without the
/// method gets 405 with Allow (RFC 9110 section 15.5.6).
class Router {
 public:
  Router();
  ~Router();
  Router(Router&&) noexcept;
  Router& operator=(Router&&) noexcept;

  /// Adds a route. Throws std::invalid_argument for a bad pattern or method token, a method and
  /// pattern already taken, or more than Request::kMaxParameters parameters.
  Router& on(std::string_view method, std::string_view pattern, Handler handler,
             RouteOptions options = {});
  Router& get(std::string_view pattern, Handler handler, RouteOptions options = {});
  Router& post(std::string_view pattern, Handler handler, RouteOptions options = {});
  Router& put(std::string_view pattern, Handler handler, RouteOptions options = {});
  Router& patch(std::string_view pattern, Handler handler, RouteOptions options = {});
  Router& del(std::string_view pattern, Handler handler, RouteOptions options = {});

  /// Adds a route whose content is streamed in both directions.
  Router& stream(std::string_view method, std::string_view pattern, StreamFactory factory,
                 RouteOptions options = {});

  [[nodiscard]] const RouteTable& table() const noexcept { return *table_; }

 private:
  std::unique_ptr<RouteTable> table_;
};

}  // namespace mote
