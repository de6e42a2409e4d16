#include "connection/response_writer.hpp"

#include <stdexcept>

#include "message/response_access.hpp"
#include "mote/status.hpp"

namespace mote {

void StreamHandler::on_content(std::string_view /*piece*/, ResponseWriter& /*writer*/) {}
void StreamHandler::on_writable(ResponseWriter& /*writer*/) {}

void ResponseWriter::begin(const Response& head, std::optional<std::uint64_t> length) {
  StreamedResponse& state = target_->state;
  if (state.began) throw std::logic_error("mote::ResponseWriter::begin: called twice");
  state.began = true;
  const bool forbidden = status_forbids_content(head.status());
  const bool empty = head.status() == 205;  // RFC 9110 section 15.3.6
  state.without_content = forbidden || empty || state.head_request;
  if (forbidden) {
    state.delimiting = Delimiting::None;
  } else if (empty) {
    state.delimiting = Delimiting::Length;
  } else if (length) {
    state.delimiting = Delimiting::Length;
    state.remaining = *length;
  } else if (state.minor_version >= 1) {
    state.delimiting = Delimiting::Chunked;
  } else {
    state.delimiting = Delimiting::Close;
    state.persistence = Persistence::Close;
  }
  write_head(target_->output, target_->date,
             {.status = head.status(),
              .fields = ResponseAccess::fields(head),
              .plain_text = ResponseAccess::plain_text(head),
              .delimiting = state.delimiting,
              .length = state.remaining,
              .persistence = state.persistence});
}

void ResponseWriter::write(std::string_view piece) {
  StreamedResponse& state = target_->state;
  if (!state.began) throw std::logic_error("mote::ResponseWriter::write: begin() comes first");
  if (state.finished) throw std::logic_error("mote::ResponseWriter::write: after finish()");
  if (state.delimiting == Delimiting::Length && !state.without_content) {
    if (piece.size() > state.remaining) {
      throw std::logic_error("mote::ResponseWriter::write: more than the length given to begin()");
    }
    state.remaining -= piece.size();
  }
  state.written += piece.size();
  if (piece.empty() || state.without_content) return;
  if (state.delimiting == Delimiting::Chunked) {
    write_chunk(target_->output, piece);
  } else {
    target_->output.append(piece);
  }
}

void ResponseWriter::finish() {
  StreamedResponse& state = target_->state;
  if (!state.began) throw std::logic_error("mote::ResponseWriter::finish: begin() comes first");
  if (state.finished) return;
  if (state.delimiting == Delimiting::Length && state.remaining != 0 && !state.without_content) {
    throw std::logic_error("mote::ResponseWriter::finish: short of the length given to begin()");
  }
  state.finished = true;
  if (state.delimiting == Delimiting::Chunked && !state.without_content) {
    target_->output.append("0\r\n\r\n");
  }
}

bool ResponseWriter::finished() const noexcept {
  return target_->state.finished;
}

std::size_t ResponseWriter::buffered() const noexcept {
  return target_->output.size();
}

}  // namespace mote
