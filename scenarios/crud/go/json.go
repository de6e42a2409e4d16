//go:build !jsoniter

package main

import "github.com/go-json-experiment/json"

// decode is strict by the library's defaults: names match by case, none stands twice, text is valid UTF-8.
func decode(body []byte, into *sentUser) error {
	return json.Unmarshal(body, into, json.RejectUnknownMembers(true))
}

func writeRow(row userRow) ([]byte, error) {
	return json.Marshal(&row)
}
