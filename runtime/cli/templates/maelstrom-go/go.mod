module node

go 1.24
