// RUN: dlc-opt %s -dl-set-mesh=axes=data=4,model=2 | FileCheck %s
// RUN: dlc-opt %s -dl-set-mesh=axes=data=4,model=2 | dlc-opt -dl-set-mesh=axes=data=4,model=2 | FileCheck %s
// RUN: dlc-opt %s -dl-set-mesh=axes=data=4,model=2 | not dlc-opt -dl-set-mesh=axes=data=8 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not dlc-opt %s -dl-set-mesh=axes=data 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: dlc-opt %s -dl-set-mesh=axes=model=2 | not dlc-opt -dl-set-data-parallel 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: dlc-opt %s -dl-set-mesh='axes=data=4 leaves=data=8' | FileCheck %s --check-prefix=LEAVES
// RUN: not dlc-opt %s -dl-set-mesh='axes=data=4 leaves=model=8' 2>&1 | FileCheck %s --check-prefix=NOAXIS
// RUN: not dlc-opt %s -dl-set-mesh='axes=data=3 leaves=data=8' 2>&1 | FileCheck %s --check-prefix=POWER
// RUN: dlc-opt %s -dl-set-mesh | FileCheck %s --check-prefix=NONE

// CHECK-COUNT-1: dl.mesh @mesh ["data" = 4, "model" = 2]
// CHECK-NOT: dl.mesh
// OTHER: error: expects the mesh that was asked for, got another one; wanted data=8
// LEAVES: dl.mesh @mesh ["data" = 4 of 8]
// NOAXIS: error: expects leaves along an axis of the mesh, got 'model=8'
// POWER: error: {{.*}}expects leaves to be a power of two that the members divide, got "data" = 3 of 8
// FORM: error: expects axes as data=4,model=2, got 'data'
// AXIS: error: expects a dl.mesh with an axis "data"; give one, as --mesh data=4
// NONE-NOT: dl.mesh
func.func private @f()
