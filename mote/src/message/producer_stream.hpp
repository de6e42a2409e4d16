#pragma once

#include <string>
#include <utility>

#include "mote/response.hpp"
#include "mote/stream.hpp"

namespace mote {

/// Sends what a Response::Producer makes, a piece at a time.
class ProducerStream final : public StreamHandler {
 public:
  explicit ProducerStream(Response::Producer producer) noexcept : producer_(std::move(producer)) {}

  void on_end(ResponseWriter& writer) override { on_writable(writer); }
  void on_writable(ResponseWriter& writer) override {
    std::string piece;
    const bool more = producer_(piece);
    if (!piece.empty()) writer.write(piece);
    if (!more) writer.finish();
  }

 private:
  Response::Producer producer_;
};

/// Sends a large body from where the handler put it, without a second copy of the whole.
class BodyStream final : public StreamHandler {
 public:
  explicit BodyStream(std::string&& body) noexcept : body_(std::move(body)) {}

  void on_end(ResponseWriter& writer) override { on_writable(writer); }
  void on_writable(ResponseWriter& writer) override {
    constexpr std::size_t kPiece = 65536;
    const std::string_view piece = std::string_view(body_).substr(sent_, kPiece);
    writer.write(piece);
    sent_ += piece.size();
    if (sent_ == body_.size()) writer.finish();
  }

 private:
  std::string body_;
  std::size_t sent_ = 0;
};

}  // namespace mote
