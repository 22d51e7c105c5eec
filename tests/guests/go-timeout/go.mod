module timeout

go 1.24
