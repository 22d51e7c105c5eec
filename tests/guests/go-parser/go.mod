module parser

go 1.24
