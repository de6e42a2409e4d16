#include "environment.hpp"

#include <sys/resource.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

std::optional<std::string_view> variable(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::optional<std::uint32_t> number(const char* name, std::uint32_t most) {
  const auto text = variable(name);
  if (!text) return std::nullopt;
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size() || value > most) {
    throw std::invalid_argument(std::string(name) + "=" + std::string(*text) +
                                ": give a whole number from 0 to " + std::to_string(most));
  }
  return value;
}

void read_timeout(const char* name, std::chrono::milliseconds& timeout) {
  constexpr std::uint32_t kDay = 24U * 3600 * 1000;
  if (const auto value = number(name, kDay)) timeout = std::chrono::milliseconds(*value);
}

mote::Backend backend() {
  const std::string_view name = variable("MOTE_BACKEND").value_or("automatic");
  if (name == "automatic") return mote::Backend::Automatic;
  if (name == "epoll") return mote::Backend::Epoll;
  if (name == "io_uring") return mote::Backend::IoUring;
  throw std::invalid_argument("MOTE_BACKEND=" + std::string(name) +
                              ": give automatic, epoll or io_uring");
}

}  // namespace

mote::Options options_from_environment() {
  mote::Options options;
  if (const auto host = variable("HOST")) options.host = *host;
  if (const auto port = number("PORT", 65535)) options.port = static_cast<std::uint16_t>(*port);
  const auto workers = number("MOTE_WORKERS", 1024);
  options.workers = workers ? *workers : number("WORKERS", 1024).value_or(0);
  options.backend = backend();
  read_timeout("REQUEST_TIMEOUT_MS", options.timeouts.request);
  read_timeout("IDLE_TIMEOUT_MS", options.timeouts.idle);
  read_timeout("WRITE_TIMEOUT_MS", options.timeouts.write);
  return options;
}

void raise_file_limit() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &files);
}
