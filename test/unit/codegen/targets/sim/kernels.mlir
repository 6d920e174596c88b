// Kernels as the emitters write them: pointers to operands, shared variables, shuffles, barriers.
gpu.module @kernels {
  llvm.mlir.global internal @row_parts() {addr_space = 3 : i32} : !llvm.array<8 x f32>
  llvm.mlir.global internal @column_tile() {addr_space = 3 : i32} : !llvm.array<264 x f32>
  llvm.mlir.global internal @transpose_tile() {addr_space = 3 : i32} : !llvm.array<1056 x f32>
  llvm.mlir.global internal @stages() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x f32>
  llvm.mlir.global internal @fragments() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<384 x bf16>

  // y[r][c] = x[r][c] / sum over c of x[r][c]; 300 columns, a block of 256 threads a row.
  gpu.func @normalize_rows(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %columns = arith.constant 300 : index
    %step = arith.constant 256 : index
    %width = arith.constant 32 : i32
    %o16 = arith.constant 16 : i32
    %o8 = arith.constant 8 : i32
    %o4 = arith.constant 4 : i32
    %o2 = arith.constant 2 : i32
    %o1 = arith.constant 1 : i32
    %zero = arith.constant 0.0 : f32
    %t = gpu.thread_id x
    %r = gpu.block_id x
    %first = arith.muli %r, %columns : index
    %parts = llvm.mlir.addressof @row_parts : !llvm.ptr<3>
    %lane = arith.remui %t, %c32 : index
    %warp = arith.divui %t, %c32 : index
    %s0 = scf.for %c = %t to %columns step %step iter_args(%sum = %zero) -> f32 {
      %i = arith.addi %first, %c : index
      %j = arith.index_cast %i : index to i64
      %p = llvm.getelementptr %x[%j] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %v = llvm.load %p : !llvm.ptr<1> -> f32
      %n = arith.addf %sum, %v : f32
      scf.yield %n : f32
    }
    %a16, %p0 = gpu.shuffle xor %s0, %o16, %width : f32
    %s1 = arith.addf %s0, %a16 : f32
    %a8, %p1 = gpu.shuffle xor %s1, %o8, %width : f32
    %s2 = arith.addf %s1, %a8 : f32
    %a4, %p2 = gpu.shuffle xor %s2, %o4, %width : f32
    %s3 = arith.addf %s2, %a4 : f32
    %a2, %p3 = gpu.shuffle xor %s3, %o2, %width : f32
    %s4 = arith.addf %s3, %a2 : f32
    %a1, %p4 = gpu.shuffle xor %s4, %o1, %width : f32
    %s5 = arith.addf %s4, %a1 : f32
    %is0 = arith.cmpi eq, %lane, %c0 : index
    scf.if %is0 {
      %w = arith.index_cast %warp : index to i64
      %p = llvm.getelementptr %parts[%w] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
      llvm.store %s5, %p : f32, !llvm.ptr<3>
    }
    gpu.barrier
    %total = scf.for %k = %c0 to %c8 step %c1 iter_args(%sum = %zero) -> f32 {
      %j = arith.index_cast %k : index to i64
      %p = llvm.getelementptr %parts[%j] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
      %v = llvm.load %p : !llvm.ptr<3> -> f32
      %n = arith.addf %sum, %v : f32
      scf.yield %n : f32
    }
    scf.for %c = %t to %columns step %step {
      %i = arith.addi %first, %c : index
      %j = arith.index_cast %i : index to i64
      %p = llvm.getelementptr %x[%j] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %v = llvm.load %p : !llvm.ptr<1> -> f32
      %d = arith.divf %v, %total : f32
      %q = llvm.getelementptr %y[%j] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      llvm.store %d, %q : f32, !llvm.ptr<1>
    }
    gpu.return
  }

  // y[c] = sum over r of x[r][c]; 40 rows of 64 columns, blocks of 32 columns x 8 rows.
  gpu.func @sum_columns(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 32, 8, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c33 = arith.constant 33 : index
    %rows = arith.constant 40 : index
    %columns = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %bx = gpu.block_id x
    %b = arith.muli %bx, %c32 : index
    %c = arith.addi %b, %tx : index
    %tile = llvm.mlir.addressof @column_tile : !llvm.ptr<3>
    %part = scf.for %r = %ty to %rows step %c8 iter_args(%sum = %zero) -> f32 {
      %i = arith.muli %r, %columns : index
      %k = arith.addi %i, %c : index
      %j = arith.index_cast %k : index to i64
      %p = llvm.getelementptr %x[%j] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %v = llvm.load %p : !llvm.ptr<1> -> f32
      %n = arith.addf %sum, %v : f32
      scf.yield %n : f32
    }
    %row = arith.muli %ty, %c33 : index
    %mine = arith.addi %row, %tx : index
    %m = arith.index_cast %mine : index to i64
    %place = llvm.getelementptr %tile[%m] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    llvm.store %part, %place : f32, !llvm.ptr<3>
    gpu.barrier
    %is0 = arith.cmpi eq, %ty, %c0 : index
    scf.if %is0 {
      %s = scf.for %k = %c0 to %c8 step %c1 iter_args(%sum = %zero) -> f32 {
        %i = arith.muli %k, %c33 : index
        %l = arith.addi %i, %tx : index
        %j = arith.index_cast %l : index to i64
        %p = llvm.getelementptr %tile[%j] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %v = llvm.load %p : !llvm.ptr<3> -> f32
        %n = arith.addf %sum, %v : f32
        scf.yield %n : f32
      }
      %j = arith.index_cast %c : index to i64
      %p = llvm.getelementptr %y[%j] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      llvm.store %s, %p : f32, !llvm.ptr<1>
    }
    gpu.return
  }

  // y[c][r] = x[r][c]; 64 rows of 96 columns, tiles of 32 x 32, blocks of 32 x 8.
  gpu.func @transpose(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 32, 8, 1>} {
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c33 = arith.constant 33 : index
    %rows = arith.constant 64 : index
    %columns = arith.constant 96 : index
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %column = arith.muli %bx, %c32 : index
    %row = arith.muli %by, %c32 : index
    %tile = llvm.mlir.addressof @transpose_tile : !llvm.ptr<3>
    scf.for %k = %ty to %c32 step %c8 {
      %r = arith.addi %row, %k : index
      %c = arith.addi %column, %tx : index
      %i = arith.muli %r, %columns : index
      %l = arith.addi %i, %c : index
      %j = arith.index_cast %l : index to i64
      %p = llvm.getelementptr %x[%j] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %v = llvm.load %p : !llvm.ptr<1> -> f32
      %a = arith.muli %k, %c33 : index
      %s = arith.addi %a, %tx : index
      %n = arith.index_cast %s : index to i64
      %q = llvm.getelementptr %tile[%n] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
      llvm.store %v, %q : f32, !llvm.ptr<3>
    }
    gpu.barrier
    scf.for %k = %ty to %c32 step %c8 {
      %a = arith.muli %tx, %c33 : index
      %s = arith.addi %a, %k : index
      %n = arith.index_cast %s : index to i64
      %q = llvm.getelementptr %tile[%n] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
      %v = llvm.load %q : !llvm.ptr<3> -> f32
      %r = arith.addi %column, %k : index
      %c = arith.addi %row, %tx : index
      %i = arith.muli %r, %rows : index
      %l = arith.addi %i, %c : index
      %j = arith.index_cast %l : index to i64
      %p = llvm.getelementptr %y[%j] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      llvm.store %v, %p : f32, !llvm.ptr<1>
    }
    gpu.return
  }

  // y[index[i]] += x[i] over 1000 elements, blocks of 128.
  gpu.func @scatter_add(%x: !llvm.ptr<1>, %index: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %elements = arith.constant 1000 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %first = arith.muli %b, %c128 : index
    %i = arith.addi %first, %t : index
    %inside = arith.cmpi ult, %i, %elements : index
    scf.if %inside {
      %j = arith.index_cast %i : index to i64
      %p = llvm.getelementptr %x[%j] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %v = llvm.load %p : !llvm.ptr<1> -> f32
      %q = llvm.getelementptr %index[%j] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      %to = llvm.load %q : !llvm.ptr<1> -> i32
      %o = llvm.getelementptr %y[%to] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %old = llvm.atomicrmw fadd %o, %v monotonic : !llvm.ptr<1>, f32
    }
    gpu.return
  }

  // y[t] = sum over s of x[s][(t + 1) % 256]: 5 stages of 1024 bytes each through two buffers of asynchronous copies.
  gpu.func @pipeline(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c2 = arith.constant 2 : i64
    %c4 = arith.constant 4 : i64
    %c256 = arith.constant 256 : i64
    %c255 = arith.constant 255 : i64
    %last = arith.constant 4 : i64
    %count = arith.constant 5 : i64
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %thread = gpu.thread_id x
    %t = arith.index_cast %thread : index to i64
    %e = arith.muli %t, %c4 : i64
    %buffers = llvm.mlir.addressof @stages : !llvm.ptr<3>
    %p0 = llvm.getelementptr %x[%e] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %q0 = llvm.getelementptr %buffers[%e] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    nvvm.cp.async.shared.global %q0, %p0, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    %sum = scf.for %s = %c0 to %count step %c1 iter_args(%acc = %zero) -> vector<4xf32> : i64 {
      %n = arith.addi %s, %c1 : i64
      %more = arith.cmpi slt, %s, %last : i64
      scf.if %more {
        %a = arith.muli %n, %c256 : i64
        %b = arith.addi %a, %e : i64
        %p = llvm.getelementptr %x[%b] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
        %h = arith.remui %n, %c2 : i64
        %u = arith.muli %h, %c256 : i64
        %w = arith.addi %u, %e : i64
        %q = llvm.getelementptr %buffers[%w] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        nvvm.cp.async.shared.global %q, %p, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
      }
      nvvm.cp.async.commit.group
      nvvm.cp.async.wait.group 1
      gpu.barrier
      %h = arith.remui %s, %c2 : i64
      %base = arith.muli %h, %c256 : i64
      %r = scf.for %k = %c0 to %c4 step %c1 iter_args(%v = %acc) -> vector<4xf32> : i64 {
        %f = arith.addi %e, %k : i64
        %g = arith.addi %f, %c1 : i64
        %m = arith.andi %g, %c255 : i64
        %l = arith.addi %base, %m : i64
        %q = llvm.getelementptr %buffers[%l] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
        %z = llvm.load %q : !llvm.ptr<3> -> f32
        %old = llvm.extractelement %v[%k : i64] : vector<4xf32>
        %new = arith.addf %old, %z : f32
        %next = llvm.insertelement %new, %v[%k : i64] : vector<4xf32>
        scf.yield %next : vector<4xf32>
      }
      gpu.barrier
      scf.yield %r : vector<4xf32>
    }
    %o = llvm.getelementptr %y[%e] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %sum, %o {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    gpu.return
  }

  // c (16 x 8, f32) = a (16 x 16, bf16) * b (16 x 8, bf16) by one warp, fragments through shared memory.
  gpu.func @tensor_core(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c4 = arith.constant 4 : i64
    %c8 = arith.constant 8 : i64
    %c16 = arith.constant 16 : i64
    %c128 = arith.constant 128 : i64
    %c256 = arith.constant 256 : i64
    %zero = arith.constant 0.0 : f32
    %thread = gpu.thread_id x
    %t = arith.index_cast %thread : index to i64
    %e = arith.muli %t, %c8 : i64
    %tile = llvm.mlir.addressof @fragments : !llvm.ptr<3>
    %p = llvm.getelementptr %a[%e] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
    %q = llvm.getelementptr %tile[%e] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, bf16
    nvvm.cp.async.shared.global %q, %p, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    %half = arith.cmpi ult, %t, %c16 : i64
    scf.if %half {
      %r = llvm.getelementptr %b[%e] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
      %f = arith.addi %e, %c256 : i64
      %s = llvm.getelementptr %tile[%f] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, bf16
      nvvm.cp.async.shared.global %s, %r, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    }
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.barrier
    // Lane l brings row l % 16, columns from l / 16 * 8 of a, and row l % 16 of b.
    %row = arith.remui %t, %c16 : i64
    %high = arith.divui %t, %c16 : i64
    %rs = arith.muli %row, %c16 : i64
    %hs = arith.muli %high, %c8 : i64
    %ai = arith.addi %rs, %hs : i64
    %ap = llvm.getelementptr %tile[%ai] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, bf16
    %fa = nvvm.ldmatrix %ap {num = 4 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
    %bs = arith.muli %row, %c8 : i64
    %bi = arith.addi %bs, %c256 : i64
    %bp = llvm.getelementptr %tile[%bi] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, bf16
    %fb = nvvm.ldmatrix %bp {num = 2 : i32, layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
    %a0 = llvm.extractvalue %fa[0] : !llvm.struct<(i32, i32, i32, i32)>
    %a1 = llvm.extractvalue %fa[1] : !llvm.struct<(i32, i32, i32, i32)>
    %a2 = llvm.extractvalue %fa[2] : !llvm.struct<(i32, i32, i32, i32)>
    %a3 = llvm.extractvalue %fa[3] : !llvm.struct<(i32, i32, i32, i32)>
    %b0 = llvm.extractvalue %fb[0] : !llvm.struct<(i32, i32)>
    %b1 = llvm.extractvalue %fb[1] : !llvm.struct<(i32, i32)>
    %d = nvvm.mma.sync A[%a0, %a1, %a2, %a3] B[%b0, %b1] C[%zero, %zero, %zero, %zero] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>,
      multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
      : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %d0 = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>
    %d1 = llvm.extractvalue %d[1] : !llvm.struct<(f32, f32, f32, f32)>
    %d2 = llvm.extractvalue %d[2] : !llvm.struct<(f32, f32, f32, f32)>
    %d3 = llvm.extractvalue %d[3] : !llvm.struct<(f32, f32, f32, f32)>
    // Lane l holds rows l / 4 and l / 4 + 8, columns 2 (l % 4) and the next: places 2 l, 2 l + 1 of each half.
    %u = arith.addi %t, %t : i64
    %o0 = llvm.getelementptr %c[%u] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %d0, %o0 : f32, !llvm.ptr<1>
    %o1 = llvm.getelementptr %o0[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    llvm.store %d1, %o1 : f32, !llvm.ptr<1>
    %o2 = llvm.getelementptr %o0[64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    llvm.store %d2, %o2 : f32, !llvm.ptr<1>
    %o3 = llvm.getelementptr %o0[65] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    llvm.store %d3, %o3 : f32, !llvm.ptr<1>
    gpu.return
  }
}
