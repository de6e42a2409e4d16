#!/usr/bin/env bash
# h2load 1.52.0 against nginx's defaults: of 3,000 requests on one connection 1,000 succeed and 2,000 fail
#
# nginx ends an HTTP/2 connection after `keepalive_requests`, 1000, by GOAWAY. h2load opens no new one: it counts what was never
# sent as failed and errored.
source "$(dirname "$0")/common"
needs nginx
needs h2load
port=$(free_port)
cat > nginx.conf <<CONF
daemon off; master_process off; pid $work/pid; error_log $work/error.log;
events { }
http {
  access_log off;
  client_body_temp_path $work/t1; proxy_temp_path $work/t2; fastcgi_temp_path $work/t3; uwsgi_temp_path $work/t4; scgi_temp_path $work/t5;
  server { listen 127.0.0.1:$port http2; location / { return 200 "ok"; } }
}
CONF
start nginx -e "$work/error.log" -c "$work/nginx.conf"
listening "$port"
h2load -n 3000 -c 1 -m 10 "http://127.0.0.1:$port/" > h2load.txt
compare "1000 succeeded, 2000 failed, 2000 errored" "$(grep -o '[0-9]* succeeded.*errored' h2load.txt)"
