module timers

go 1.24
