// k6 as a program of this module: its own release does the same.
package main

import "go.k6.io/k6/v2/cmd"

func main() {
	cmd.Execute()
}
