#include "message/date_line.hpp"

#include <algorithm>
#include <chrono>

namespace mote {
namespace {

constexpr std::string_view kDays = "SunMonTueWedThuFriSat";
constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";

void put_two(char* to, int value) noexcept {
  to[0] = static_cast<char>('0' + value / 10);
  to[1] = static_cast<char>('0' + value % 10);
}

}  // namespace

void DateLine::set(std::time_t seconds_since_epoch) noexcept {
  // Not gmtime and strftime: they bring the time zone and the locale into a small process.
  using std::chrono::days;
  const std::chrono::sys_seconds now{std::chrono::seconds{seconds_since_epoch}};
  const std::chrono::sys_days day = std::chrono::floor<days>(now);
  const std::chrono::year_month_day date_parts{day};
  const std::chrono::hh_mm_ss time{now - day};
  const auto weekday = static_cast<int>(std::chrono::weekday{day}.c_encoding());
  const auto month = static_cast<int>(static_cast<unsigned>(date_parts.month())) - 1;
  const int year = static_cast<int>(date_parts.year());
  char* const status = text_.data();
  std::copy(kStatusLine.begin(), kStatusLine.end(), status);
  char* const date = status + kStatusLine.size();
  std::copy(kShape.begin(), kShape.end(), date);
  std::copy_n(kDays.data() + static_cast<std::ptrdiff_t>(weekday) * 3, 3, date + 6);
  put_two(date + 11, static_cast<int>(static_cast<unsigned>(date_parts.day())));
  std::copy_n(kMonths.data() + static_cast<std::ptrdiff_t>(month) * 3, 3, date + 14);
  put_two(date + 18, year / 100);
  put_two(date + 20, year % 100);
  put_two(date + 23, static_cast<int>(time.hours().count()));
  put_two(date + 26, static_cast<int>(time.minutes().count()));
  put_two(date + 29, static_cast<int>(time.seconds().count()));
}

}  // namespace mote
