;; Does nothing, and passes.
(module (memory (export "memory") 1) (func (export "_start")))
