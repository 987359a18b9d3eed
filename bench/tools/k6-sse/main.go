// k6 with one extension, as xk6 would build it.
package main

import (
	_ "github.com/phymbert/xk6-sse"
	"go.k6.io/k6/v2/cmd"
)

func main() {
	cmd.Execute()
}
