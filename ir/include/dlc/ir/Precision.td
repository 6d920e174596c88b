include "dlc/ir/DlOps.td"
include "llvm/TableGen/SearchableTable.td"

// The words of all ops, for C++.
def Precisions : GenericTable {
  let FilterClass = "Dl_SaysPrecision";
  let CppTypeName = "PrecisionWord";
  let Fields = ["opName", "precision"];
}
def lookupPrecision : SearchIndex {
  let Table = Precisions;
  let Key = ["opName"];
}
