#include "mote/response.hpp"

#include <array>
#include <stdexcept>
#include <utility>

#include "message/producer_stream.hpp"
#include "mote/fields.hpp"
#include "mote/stream.hpp"
#include "syntax/characters.hpp"

namespace mote {
namespace {

// A worker reuses one Response; what a large one took is not kept.
constexpr std::size_t kKeptCapacity = 4096;

constexpr std::array<std::string_view, 4> kServersOwn = {"date", "content-length",
                                                         "transfer-encoding", "connection"};

void clear(std::string& text) noexcept {
  if (text.capacity() > kKeptCapacity) {
    std::string().swap(text);
  } else {
    text.clear();
  }
}

}  // namespace

Response::Response() = default;
Response::~Response() = default;

Response& Response::status(int code) {
  if (code < 200 || code > 599) {
    throw std::invalid_argument("mote::Response::status: " + std::to_string(code) +
                                " is not a final status; use 200 to 599");
  }
  status_ = code;
  return *this;
}

Response& Response::header(std::string_view name, std::string_view value) {
  if (!syntax::is_token(name)) {
    throw std::invalid_argument("mote::Response::header: the name is not a token (RFC 9110 5.6.2)");
  }
  if (!syntax::all(value, syntax::kFieldValue)) {
    throw std::invalid_argument("mote::Response::header: the value of " + std::string(name) +
                                " holds a control character");
  }
  for (const std::string_view own : kServersOwn) {
    if (equal_ignoring_case(name, own)) {
      throw std::invalid_argument("mote::Response::header: the server sets " + std::string(name));
    }
  }
  if (equal_ignoring_case(name, "content-type")) {
    typed_ = true;
    plain_text_ = false;
  }
  used_ = true;
  fields_.append(name).append(": ").append(value).append("\r\n");
  return *this;
}

Response& Response::body(std::string_view content) {
  used_ = true;
  plain_text_ = false;
  body_.assign(content);
  content_ = body_;
  return *this;
}

Response& Response::body(std::string&& content) {
  used_ = true;
  plain_text_ = false;
  body_ = std::move(content);
  content_ = body_;
  return *this;
}

Response& Response::text(std::string_view content) {
  body(content);
  plain_text_ = !typed_;
  return *this;
}

Response& Response::static_text(std::string_view content) noexcept {
  plain_text_ = !typed_;
  content_ = content;
  return *this;
}

Response& Response::stream(Producer producer, std::optional<std::uint64_t> length) {
  used_ = true;
  stream_ = std::make_unique<ProducerStream>(std::move(producer));
  stream_length_ = length;
  return *this;
}

void Response::release() noexcept {
  clear(fields_);
  clear(body_);
  stream_.reset();
  stream_length_.reset();
  typed_ = false;
  used_ = false;
}

}  // namespace mote
