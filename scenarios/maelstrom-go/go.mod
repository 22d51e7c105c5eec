module maelstrom-go

go 1.24
