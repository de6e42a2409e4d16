#!/usr/bin/env bash
# SSE clients: of a stream that holds two events, eventsource-parser 3.1.1 delivers 2, sseclient-py 1.9.0 and go-sse 0.12.0 deliver 3
#
# The stream is two events with data, between them one that has an id alone, and behind them one that the end of the stream cuts off. The
# standard drops the last two. go-sse delivers the one without data, and sseclient-py the one that was cut off.
source "$(dirname "$0")/common"
needs go
needs node
python_with sseclient-py==1.9.0
node_with eventsource-parser@3.1.1
printf 'data: one\n\nid: 7\n\ndata: two\n\ndata: cut off\n' > stream
cat > read.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { createParser } from 'eventsource-parser';
const seen = [];
createParser({ onEvent: (event) => seen.push(event.data) }).feed(readFileSync('stream', 'utf8'));
console.log(seen.join('|'));
JS
cat > read.py <<'PY'
import sseclient
print("|".join(event.data for event in sseclient.SSEClient(open("stream", "rb")).events()))
PY
mkdir read
cat > read/main.go <<'GO'
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/tmaxmax/go-sse"
)

func main() {
	stream, _ := os.Open(os.Args[1])
	var seen []string
	for event, err := range sse.Read(stream, nil) {
		if err == nil {
			seen = append(seen, event.Data)
		}
	}
	fmt.Println(strings.Join(seen, "|"))
}
GO
go_with read github.com/tmaxmax/go-sse@v0.12.0
seen="eventsource-parser $(node read.mjs), sseclient-py $(env/bin/python read.py), go-sse $(cd read && go run . ../stream)"
compare "eventsource-parser one|two, sseclient-py one|two|cut off, go-sse one||two" "$seen"
