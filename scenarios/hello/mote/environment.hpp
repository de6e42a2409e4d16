#pragma once

#include "mote/options.hpp"

/// Reads HOST, PORT, MOTE_WORKERS or WORKERS, MOTE_BACKEND (automatic, epoll or io_uring),
/// REQUEST_TIMEOUT_MS, IDLE_TIMEOUT_MS and WRITE_TIMEOUT_MS over the library's defaults. Throws
/// std::invalid_argument naming the variable whose value is wrong.
mote::Options options_from_environment();

/// Raises the soft limit of open files to the hard one, for each connection is a file.
void raise_file_limit();
