#pragma once

#include <array>
#include <cstddef>
#include <ctime>
#include <string_view>

namespace mote {

/// The start of a 200 response up to and including its Date line, made anew once a second
/// (IMF-fixdate, RFC 9110 section 5.6.7).
class DateLine {
 public:
  DateLine() noexcept { set(0); }

  void set(std::time_t seconds_since_epoch) noexcept;

  /// "HTTP/1.1 200 OK" and the Date line, each with CRLF.
  [[nodiscard]] std::string_view after_ok() const noexcept { return {text_.data(), text_.size()}; }
  /// The Date line with CRLF.
  [[nodiscard]] std::string_view line() const noexcept {
    return after_ok().substr(kStatusLine.size());
  }

 private:
  static constexpr std::string_view kStatusLine = "HTTP/1.1 200 OK\r\n";
  static constexpr std::string_view kShape = "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n";

  std::array<char, kStatusLine.size() + kShape.size()> text_;
};

}  // namespace mote
