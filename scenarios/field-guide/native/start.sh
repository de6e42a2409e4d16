#!/bin/sh
# Starts nginx or h2o, whose configurations cannot read the environment.
set -eu
conf=/tmp/field-guide-$1-$PORT.conf
sed -e "s/@ADDRESS@/$HOST:$PORT/" -e "s/@HOST@/$HOST/" -e "s/@PORT@/$PORT/" -e "s/@LATER@/$LATER_HOST:$LATER_PORT/" "$1.conf" > "$conf"
case $1 in
  nginx) exec ./debian/usr/sbin/nginx -e stderr -c "$conf" -p /tmp ;;
  h2o) exec ./debian/usr/bin/h2o -c "$conf" ;;
esac
