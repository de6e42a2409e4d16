//go:build jsoniter

package main

import jsoniter "github.com/json-iterator/go"

// The strictest that jsoniter can be set to: it still takes the last of two equal names, and text that is no UTF-8.
var library = jsoniter.Config{DisallowUnknownFields: true, CaseSensitive: true}.Froze()

func decode(body []byte, into *sentUser) error {
	return library.Unmarshal(body, into)
}

func writeRow(row userRow) ([]byte, error) {
	return library.Marshal(&row)
}
