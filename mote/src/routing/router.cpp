#include "mote/router.hpp"

#include <utility>

#include "routing/route_table.hpp"

namespace mote {

Router::Router() : table_(std::make_unique<RouteTable>()) {}
Router::~Router() = default;
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;

Router& Router::on(std::string_view method, std::string_view pattern, Handler handler,
                   RouteOptions options) {
  table_->add(method, pattern, Endpoint{std::move(handler), {}, options});
  return *this;
}

Router& Router::get(std::string_view pattern, Handler handler, RouteOptions options) {
  return on("GET", pattern, std::move(handler), options);
}

Router& Router::post(std::string_view pattern, Handler handler, RouteOptions options) {
  return on("POST", pattern, std::move(handler), options);
}

Router& Router::put(std::string_view pattern, Handler handler, RouteOptions options) {
  return on("PUT", pattern, std::move(handler), options);
}

Router& Router::patch(std::string_view pattern, Handler handler, RouteOptions options) {
  return on("PATCH", pattern, std::move(handler), options);
}

Router& Router::del(std::string_view pattern, Handler handler, RouteOptions options) {
  return on("DELETE", pattern, std::move(handler), options);
}

Router& Router::stream(std::string_view method, std::string_view pattern, StreamFactory factory,
                       RouteOptions options) {
  table_->add(method, pattern, Endpoint{{}, std::move(factory), options});
  return *this;
}

}  // namespace mote
