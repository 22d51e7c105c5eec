;; A scenario without a toolchain: one property, in the text format of WebAssembly.
;;
;;     fozzy run scenario.wat --seed 7
;;
;; It draws a number and says what must hold of its square. The names are those of Fozzy's interfaces, the signatures the
;; flat ones of the component model: a string is an address and a length.
(module
  ;; int(site, min, max): a number from min to max.
  (import "fozzy:choices/draws@0.1.0" "int" (func $int (param i32 i32 i64 i64) (result i64)))
  ;; always(name, holds, details): it must hold, each time. The last three words are the details: there are none.
  (import "fozzy:properties/assertions@0.1.0" "always" (func $always (param i32 i32 i32 i32 i32 i32)))

  (memory (export "memory") 1)
  ;; A list of one string: at 0 where the list is, at 8 where its string is.
  (data (i32.const 0) "\08\00\00\00\01\00\00\00")
  (data (i32.const 8) "\20\00\00\00\07\00\00\00")
  (data (i32.const 32) "squares")
  (data (i32.const 48) "number")
  (data (i32.const 64) "a square is not negative")

  ;; The names of the properties.
  (func (export "fozzy:scenario/property@0.1.0#properties") (result i32) (i32.const 0))

  ;; Checks the property at that place.
  (func (export "fozzy:scenario/property@0.1.0#check") (param $property i32)
    (local $number i64)
    (local.set $number (call $int (i32.const 48) (i32.const 6) (i64.const -1000) (i64.const 1000)))
    (call $always
      (i32.const 64) (i32.const 24)
      (i64.ge_s (i64.mul (local.get $number) (local.get $number)) (i64.const 0))
      (i32.const 0) (i32.const 0) (i32.const 0))))
