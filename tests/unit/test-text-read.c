#include "unit.h"

#include "dump-message.h"
#include "proto/text.h"
#include "random-model.h"
#include "support/error.h"

/* What of the model is compared. */
typedef enum Part { PART_MODEL, PART_GRAPH, PART_NODES, PART_ATTRIBUTES, PART_TYPE, PART_FUNCTIONS } Part;

/* Texts that are right, and the messages they mean. Rows are those of the format's page (section 6; "3.3": ours). */
typedef struct Row {
  const char *row;
  const char *text;
  Part part;
  const char *message;
  const char *warning; /* the id of the only finding */
} Row;

#define MODEL(text) text, PART_MODEL
#define INPUTS(text) "g (" text ") => () { }", PART_GRAPH
#define ENTRIES(text) "g () => () <" text "> { }", PART_GRAPH
#define NODES(text) "g () => () { " text " }", PART_NODES
#define ATTRIBUTES(text) "g () => () { y = Op <" text "> (x) }", PART_ATTRIBUTES
#define TYPE(text) "g (" text " x) => () { }", PART_TYPE
#define FUNCTIONS(text) "g () => () { } " text, PART_FUNCTIONS

/* clang-format off */
static const Row rows[] = {
  { "1", MODEL("g (x) => (y) { }"),
    "{graph:{name:'g' input:[{name:'x'}] output:[{name:'y'}]}}" },
  { "2", MODEL("g => () { }"),
    "{graph:{name:'g'}}" },
  { "3", MODEL("g () => () { } f (x) => (y) { }"),
    "{graph:{name:'g'} functions:[{name:'f' input:['x'] output:['y']}]}" },
  { "4", INPUTS("float float, \"seq\", x"),
    "{name:'g' input:[{name:'float' type:{tensor_type:{elem_type:1 shape:{}}}} {name:'seq'} {name:'x'}]}" },
  { "5", INPUTS("float \"\", \"\""),
    "{name:'g' input:[{name:'' type:{tensor_type:{elem_type:1 shape:{}}}} {name:''}]}" },
  { "5", MODEL("\"\" () => () { }"),
    "{graph:{name:''}}" },
  { "6", INPUTS("float[2] x = {1, 2}"),
    "{name:'g' initializer:[{dims:[2] data_type:1 float_data:[1 2] name:'x'}] input:[{name:'x' "
    "type:{tensor_type:{elem_type:1 shape:{dim:[{dim_value:2}]}}}}]}" },
  { "7", ENTRIES("float[2] w = "),
    "{name:'g' initializer:[{dims:[2] data_type:1 name:'w'}]}" },
  { "7", MODEL("g () => () <float w => { }"),
    "{graph:{name:'g' initializer:[{data_type:1 name:'w'}]}}" },
  { "8", ENTRIES("float[2] w = {}"),
    "{name:'g' initializer:[{dims:[2] data_type:1 name:'w'}]}", "tensor-count" },
  { "8", ENTRIES("float[2] w = {1}"),
    "{name:'g' initializer:[{dims:[2] data_type:1 float_data:[1] name:'w'}]}", "tensor-count" },
  { "8", ENTRIES("float[2] w = {1,2,3}"),
    "{name:'g' initializer:[{dims:[2] data_type:1 float_data:[1 2 3] name:'w'}]}", "tensor-count" },
  { "9", ENTRIES("w, float[] v"),
    "{name:'g' value_info:[{name:'w'} {name:'v' type:{tensor_type:{elem_type:1}}}]}" },
  { "10", MODEL("g () => () <> { }"),
    "{graph:{name:'g'}}" },
  { "11", TYPE("float"),
    "{tensor_type:{elem_type:1 shape:{}}}" },
  { "11", TYPE("float[]"),
    "{tensor_type:{elem_type:1}}" },
  { "11", TYPE("float[?]"),
    "{tensor_type:{elem_type:1 shape:{dim:[{}]}}}" },
  { "11", TYPE("float[\"\"]"),
    "{tensor_type:{elem_type:1 shape:{dim:[{dim_param:''}]}}}" },
  { "12", TYPE("float[-1]"),
    "{tensor_type:{elem_type:1 shape:{dim:[{dim_value:-1}]}}}" },
  { "12", TYPE("float[007]"),
    "{tensor_type:{elem_type:1 shape:{dim:[{dim_value:7}]}}}" },
  { "12", TYPE("float[inf]"),
    "{tensor_type:{elem_type:1 shape:{dim:[{dim_param:'inf'}]}}}" },
  { "12", TYPE("float [ N ]"),
    "{tensor_type:{elem_type:1 shape:{dim:[{dim_param:'N'}]}}}" },
  { "13", TYPE("sparse_tensor(float[])"),
    "{sparse_tensor_type:{elem_type:1}}" },
  { "13", TYPE("seq(map(int64, string))"),
    "{sequence_type:{elem_type:{map_type:{key_type:7 value_type:{tensor_type:{elem_type:8 shape:{}}}}}}}" },
  { "14", TYPE("opaque(a.b)"),
    "{opaque_type:{name:'a.b'}}" },
  { "14", TYPE("opaque(a.b, c)"),
    "{opaque_type:{domain:'a.b' name:'c'}}" },
  { "14", TYPE("opaque()"),
    "{opaque_type:{}}" },
  { "15", ENTRIES("float[2] w = [\"l\": \"f\", \"offset\": \"0\"]"),
    "{name:'g' initializer:[{dims:[2] data_type:1 name:'w' external_data:[{key:'l' value:'f'} {key:'offset' "
    "value:'0'}] data_location:1}]}", "no-location" },
  { "16", NODES("[] y = Op (x)"),
    "[{input:['x'] output:['y'] name:'' op_type:'Op' domain:''}]" },
  { "16", NODES("[\"\"] y = Op (x)"),
    "[{input:['x'] output:['y'] name:'' op_type:'Op' domain:''}]" },
  { "17", NODES("[a] = Op (x)"),
    "[{input:['x'] name:'a' op_type:'Op' domain:''}]" },
  { "17", NODES("= Op (x)"),
    "[{input:['x'] op_type:'Op' domain:''}]" },
  { "18", NODES("y = (x)"),
    "[{input:['x'] output:['y'] op_type:'' domain:''}]" },
  { "19", NODES("y = .Relu (x)"),
    "[{input:['x'] output:['y'] op_type:'Relu' domain:''}]" },
  { "19", NODES("y = .a.Relu (x)"),
    "[{input:['x'] output:['y'] op_type:'Relu' domain:'a'}]" },
  { "20", NODES("y = ai . onnx . Op : v (x)"),
    "[{input:['x'] output:['y'] op_type:'Op' domain:'ai.onnx' overload:'v'}]" },
  { "21", NODES("y = Op ()"),
    "[{output:['y'] op_type:'Op' domain:''}]" },
  { "21", NODES("y = Op (\"\")"),
    "[{input:[''] output:['y'] op_type:'Op' domain:''}]" },
  { "21", NODES("y = Op (,)"),
    "[{input:[''] output:['y'] op_type:'Op' domain:''}]" },
  { "21", NODES("y = Op (x,)"),
    "[{input:['x'] output:['y'] op_type:'Op' domain:''}]" },
  { "21", NODES("y = Op (,x)"),
    "[{input:['' 'x'] output:['y'] op_type:'Op' domain:''}]" },
  { "21", NODES("y = Op (x,,)"),
    "[{input:['x' ''] output:['y'] op_type:'Op' domain:''}]" },
  { "22", NODES(", = Op (x)"),
    "[{input:['x'] output:[''] op_type:'Op' domain:''}]" },
  { "22", NODES("y, = Op (x)"),
    "[{input:['x'] output:['y'] op_type:'Op' domain:''}]" },
  { "23", NODES("y = Neg (x), z = Neg (y)"),
    "[{input:['x'] output:['y'] op_type:'Neg' domain:''} {input:['y'] output:['' 'z'] op_type:'Neg' domain:''}]",
    "stray-comma" },
  { "24", NODES("y = Op (x) [n] z = Op (y)"),
    "[{input:['x'] output:['y'] op_type:'Op' domain:''} {input:['y'] output:['z'] name:'n' op_type:'Op' domain:''}]" },
  { "25", NODES("y = Op (x) <a = 1>"),
    "[{input:['x'] output:['y'] op_type:'Op' domain:'' attribute:[{name:'a' type:2 i:1}]}]" },
  { "26", NODES("float = Op <int = 2, seq = 3> (seq, map, inf)"),
    "[{input:['seq' 'map' 'inf'] output:['float'] op_type:'Op' domain:'' attribute:[{name:'int' type:2 i:2} "
    "{name:'seq' type:2 i:3}]}]" },
  { "27", ATTRIBUTES("a = 2, a = 3"),
    "[{name:'a' type:2 i:2} {name:'a' type:2 i:3}]", "attr-twice" },
  { "28", ATTRIBUTES("a = 2"),
    "[{name:'a' type:2 i:2}]" },
  { "28", ATTRIBUTES("a: float = 2"),
    "[{name:'a' type:1 f:2}]" },
  { "28", ATTRIBUTES("a: float = -0"),
    "[{name:'a' type:1 f:-0}]" },
  { "29", ATTRIBUTES("a = 5."),
    "[{name:'a' type:1 f:5}]" },
  { "29", ATTRIBUTES("a = 1.e3"),
    "[{name:'a' type:1 f:1000}]" },
  { "29", ATTRIBUTES("a = 1E+5"),
    "[{name:'a' type:1 f:100000}]" },
  { "29", ATTRIBUTES("a = 007"),
    "[{name:'a' type:2 i:7}]" },
  { "29", ATTRIBUTES("a = -0"),
    "[{name:'a' type:2 i:0}]" },
  { "30", ATTRIBUTES("a = [inf, INF, Infinity, -inf, NaN, -nan]"),
    "[{name:'a' type:6 floats:[inf inf inf -inf 0x7fc00000 0xffc00000]}]" },
  { "30", ENTRIES("double[2] w = {nan, -nan}"),
    "{name:'g' initializer:[{dims:[2] data_type:11 name:'w' double_data:[0x7ff8000000000000 0xfff8000000000000]}]}" },
  { "31", ATTRIBUTES("a = [1e-46, 16777217.0]"),
    "[{name:'a' type:6 floats:[0 16777216]}]" },
  { "31", ENTRIES("float[1] w = {16777217}"),
    "{name:'g' initializer:[{dims:[1] data_type:1 float_data:[16777216] name:'w'}]}" },
  { "32", ATTRIBUTES("a = [2.0, 1]"),
    "[{name:'a' type:6 floats:[2 1]}]" },
  { "32", ATTRIBUTES("a = [inf, 1.0]"),
    "[{name:'a' type:6 floats:[inf 1]}]" },
  { "32", ATTRIBUTES("a: int = [1, 2]"),
    "[{name:'a' type:7 ints:[1 2]}]", "attr-type" },
  { "33", ATTRIBUTES("a: ints = []"),
    "[{name:'a' type:7}]" },
  { "33", ATTRIBUTES("t: tensors = []"),
    "[{name:'t' type:9}]" },
  { "34", ATTRIBUTES("a = @r"),
    "[{name:'a' ref_attr_name:'r'}]" },
  { "34", ATTRIBUTES("a: int = @\"r s\""),
    "[{name:'a' ref_attr_name:'r s' type:2}]" },
  { "34", ATTRIBUTES("a = @\"\""),
    "[{name:'a' ref_attr_name:''}]" },
  { "34", ATTRIBUTES("a: sparse_tensor = @r"),
    "[{name:'a' ref_attr_name:'r' type:11}]" },
  { "35", ATTRIBUTES("a = float[3]"),
    "[{name:'a' type:13 tp:{tensor_type:{elem_type:1 shape:{dim:[{dim_value:3}]}}}}]" },
  { "35", ATTRIBUTES("a = float"),
    "[{name:'a' type:13 tp:{tensor_type:{elem_type:1 shape:{}}}}]" },
  { "36", ATTRIBUTES("a = float[3] {1, 2, 3}"),
    "[{name:'a' type:4 t:{dims:[3] data_type:1 float_data:[1 2 3] name:''}}]" },
  { "36", ATTRIBUTES("a = float[3] = {1, 2, 3}"),
    "[{name:'a' type:4 t:{dims:[3] data_type:1 float_data:[1 2 3] name:''}}]" },
  { "36", ATTRIBUTES("a = float {1}"),
    "[{name:'a' type:4 t:{data_type:1 float_data:[1] name:''}}]" },
  { "37", ATTRIBUTES("a = float[3] t"),
    "[{name:'a' type:4 t:{dims:[3] data_type:1 name:'t'}}]" },
  { "37", MODEL("g () => () { y = Op <a = float[3] => (x) } h () => () { y = Op <a = 1> (x) }"),
    "{graph:{node:[{input:['x'] output:['y'] op_type:'Op' domain:'' attribute:[{name:'a' type:4 t:{dims:[3] "
    "data_type:1 name:''}}]}] name:'g'} functions:[{name:'h' node:[{input:['x'] output:['y'] op_type:'Op' "
    "domain:'' attribute:[{name:'a' type:2 i:1}]}]}]}" },
  { "38", ATTRIBUTES("a = float[2] = [\"location\": \"f\"]"),
    "[{name:'a' type:4 t:{dims:[2] data_type:1 name:'' external_data:[{key:'location' value:'f'}] "
    "data_location:1}}]" },
  { "39", ATTRIBUTES("a = g1 => () { }"),
    "[{name:'a' type:5 g:{name:'g1'}}]" },
  { "39", ATTRIBUTES("a = nanx () => () { }"),
    "[{name:'a' type:5 g:{name:'nanx'}}]" },
  { "40", ENTRIES("int4[3] w = {225, 3}"),
    "{name:'g' initializer:[{dims:[3] data_type:22 int32_data:[225 3] name:'w'}]}" },
  { "40", ENTRIES("float16[1] w = {15360}"),
    "{name:'g' initializer:[{dims:[1] data_type:10 int32_data:[15360] name:'w'}]}" },
  { "40", ENTRIES("complex64[1] w = {1, 2}"),
    "{name:'g' initializer:[{dims:[1] data_type:14 float_data:[1 2] name:'w'}]}" },
  { "41", ENTRIES("int8[1] w = {300}"),
    "{name:'g' initializer:[{dims:[1] data_type:3 int32_data:[300] name:'w'}]}", "value-range" },
  { "41", ENTRIES("bool[1] w = {2}"),
    "{name:'g' initializer:[{dims:[1] data_type:9 int32_data:[2] name:'w'}]}", "value-range" },
  { "41", ENTRIES("uint8[1] w = {-1}"),
    "{name:'g' initializer:[{dims:[1] data_type:2 int32_data:[-1] name:'w'}]}", "value-range" },
  { "42", ENTRIES("uint64[1] w = {-1}"),
    "{name:'g' initializer:[{dims:[1] data_type:13 name:'w' uint64_data:[18446744073709551615]}]}", "value-range" },
  { "42", ENTRIES("uint32[1] w = {4294967296}"),
    "{name:'g' initializer:[{dims:[1] data_type:12 name:'w' uint64_data:[4294967296]}]}", "value-range" },
  { "43", ENTRIES("string[2] w = {\"a\\\"b\", \"c\\nd\"}"),
    "{name:'g' initializer:[{dims:[2] data_type:8 string_data:['a\"b' 'cnd'] name:'w'}]}" },
  { "44", ATTRIBUTES("a = \"x\ny\", b = \"# no comment\""),
    "[{name:'a' type:3 s:'x\\x0ay'} {name:'b' type:3 s:'# no comment'}]" },
  { "45", MODEL("# c\ng # c\n( # c \r x\n) # c\n => # c\n () # c \n{ # c\n} # c"),
    "{graph:{name:'g'}}" },
  { "46", MODEL("g\t(\vx\f)\r=>\t()\v{ }"),
    "{graph:{name:'g' input:[{name:'x'}]}}" },
  { "47", MODEL("<ir_version: 7, ir_version: 8> g () => () { }"),
    "{ir_version:8 graph:{name:'g'}}", "key-twice" },
  { "48", MODEL("<opset_import: [\"\": 1], opset_import: [\"a\": -1]> g () => () { }"),
    "{opset_import:[{domain:'' version:1} {domain:'a' version:-1}] graph:{name:'g'}}" },
  { "49", MODEL("<opset_import: [], metadata_props: [], producer_name: \"\"> g () => () { }"),
    "{producer_name:'' graph:{name:'g'}}" },
  { "50", FUNCTIONS("f <a, \"b c\", k: float = 2> (x) => () { }"),
    "[{name:'f' input:['x'] attribute:['a' 'b c'] attribute_proto:[{name:'k' type:1 f:2}]}]" },
  { "51", FUNCTIONS("f <k: int> (x) => () { }"),
    "[{name:'f' input:['x'] attribute_proto:[{name:'k' type:2}]}]" },
  { "51", FUNCTIONS("f <k: int => (x) => () { }"),
    "[{name:'f' input:['x'] attribute_proto:[{name:'k' type:2}]}]" },
  { "51", FUNCTIONS("f <k => (x) => () { }"),
    "[{name:'f' input:['x'] attribute_proto:[{name:'k'}]}]" },
  { "52", FUNCTIONS("f (float x, y) => (float z) <float t, u> { }"),
    "[{name:'f' input:['x' 'y'] output:['z'] value_info:[{name:'x' type:{tensor_type:{elem_type:1 shape:{}}}} "
    "{name:'z' type:{tensor_type:{elem_type:1 shape:{}}}} {name:'t' type:{tensor_type:{elem_type:1 shape:{}}}} "
    "{name:'u'}]}]" },
  { "53", FUNCTIONS("f (x, x) => (x) <> { }"),
    "[{name:'f' input:['x' 'x'] output:['x']}]" },
  { "54", ATTRIBUTES("a = \"my body\" () => () { }"),
    "[{name:'a' type:5 g:{name:'my body'}}]" },
  { "54", ATTRIBUTES("a = \"inf\" () => () { }"),
    "[{name:'a' type:5 g:{name:'inf'}}]" },
  { "55", ATTRIBUTES("a = float[1] \"t/1\" {1.0}"),
    "[{name:'a' type:4 t:{dims:[1] data_type:1 float_data:[1] name:'t/1'}}]" },
  { "56", NODES("y = \"com.ex-1/a\".\"FAKE!\":\"v 1\" <\"a b\" = 1> (x)"),
    "[{input:['x'] output:['y'] op_type:'FAKE!' domain:'com.ex-1/a' overload:'v 1' attribute:[{name:'a b' type:2 "
    "i:1}]}]" },
  { "57", ATTRIBUTES("a = [float[1] {1}, float[1] {2}]"),
    "[{name:'a' type:9 tensors:[{dims:[1] data_type:1 float_data:[1] name:''} {dims:[1] data_type:1 float_data:[2] "
    "name:''}]}]" },
  { "58", ATTRIBUTES("a = nan_x () => () { }"),
    "[{name:'a' type:5 g:{name:'nan_x'}}]" },
  { "59", ENTRIES("float16[3] w = {0.1, inf, nan}"),
    "{name:'g' initializer:[{dims:[3] data_type:10 int32_data:[11878 31744 32256] name:'w'}]}" },
  { "60", ENTRIES("int4[3] w = ![1, -2, 3]"),
    "{name:'g' initializer:[{dims:[3] data_type:22 int32_data:[225 3] name:'w'}]}" },
  { "3.3", MODEL("? (float[N] ?) => () <float[1] ? = {1.0}> { y = ? (x) }"),
    "{graph:{node:[{input:['x'] output:['y'] domain:''}] initializer:[{dims:[1] data_type:1 float_data:[1]}] "
    "input:[{type:{tensor_type:{elem_type:1 shape:{dim:[{dim_param:'N'}]}}}}]}}" },
  { "3.3", MODEL("<ir_version: 8> ?"),
    "{ir_version:8}" },
  { "3.3", MODEL("<opset_import: [\"\" : ?, ? : 3]> ? f (x) => () { }"),
    "{opset_import:[{domain:''} {version:3}] functions:[{name:'f' input:['x']}]}" },
  { "3.3", MODEL("<metadata_props: [? : \"v\"]> g () => () { }"),
    "{graph:{name:'g'} metadata_props:[{value:'v'}]}" },
  { "3.3", NODES("y = Op:\"\" (x)"),
    "[{input:['x'] output:['y'] op_type:'Op' domain:'' overload:''}]" },
  { "3.3", NODES("y = .\"\" (x)"),
    "[{input:['x'] output:['y'] op_type:'' domain:''}]" },
  { "3.3", NODES("y = \"d\".\"\" (x)"),
    "[{input:['x'] output:['y'] op_type:'' domain:'d'}]" },
  { "3.3", ATTRIBUTES("a: ?, b: !77, c: int, d: ? = 2.0, e: !0"),
    "[{name:'a'} {name:'b' type:77} {name:'c' type:2} {name:'d' f:2} {name:'e' type:0}]" },
  { "3.3", TYPE("!?[N]"),
    "{tensor_type:{shape:{dim:[{dim_param:'N'}]}}}" },
  { "3.3", TYPE("!77[2]"),
    "{tensor_type:{elem_type:77 shape:{dim:[{dim_value:2}]}}}" },
  { "3.3", TYPE("!0"),
    "{tensor_type:{elem_type:0 shape:{}}}" },
  { "3.3", TYPE("!{}"),
    "{}" },
  { "3.3", TYPE("!{tensor_type: {elem_type: 1, shape: {dim: [{dim_value: 3}], 99/0: 1}}}"),
    "{tensor_type:{elem_type:1 shape:{dim:[{dim_value:3}] 99/0:1}}}" },
  { "3.3", TYPE("seq()"),
    "{sequence_type:{}}" },
  { "3.3", TYPE("optional()"),
    "{optional_type:{}}" },
  { "3.3", TYPE("map(!?, )"),
    "{map_type:{}}" },
  { "3.3", TYPE("opaque(\"\", \"a b\")"),
    "{opaque_type:{domain:'' name:'a b'}}" },
  { "3.3", TYPE("opaque(d, ?)"),
    "{opaque_type:{domain:'d'}}" },
  { "3.3", ENTRIES("sparse_tensor(float[3,4]) w = {float[2] {1.5, 2.5}, int64[2] {1, 7}}"),
    "{name:'g' sparse_initializer:[{values:{dims:[2] data_type:1 float_data:[1.5 2.5] name:'w'} indices:{dims:[2] "
    "data_type:7 int64_data:[1 7] name:''} dims:[3 4]}]}" },
  { "3.3", ATTRIBUTES("a = sparse_tensor(float[3,4]) {float[2] {1.5, 2.5}, int64[2] {1, 7}}"),
    "[{name:'a' type:11 sparse_tensor:{values:{dims:[2] data_type:1 float_data:[1.5 2.5] name:''} "
    "indices:{dims:[2] data_type:7 int64_data:[1 7] name:''} dims:[3 4]}}]" },
  { "3.3", ATTRIBUTES("s = ![sparse_tensor(float[4]) {float[1] {1.5}, int64[1] {1}}], t = ![float[1], int64], g = ![a "
            "() => () { }]"),
    "[{name:'s' type:12 sparse_tensors:[{values:{dims:[1] data_type:1 float_data:[1.5] name:''} indices:{dims:[1] "
    "data_type:7 int64_data:[1] name:''} dims:[4]}]} {name:'t' type:14 type_protos:[{tensor_type:{elem_type:1 "
    "shape:{dim:[{dim_value:1}]}}} {tensor_type:{elem_type:7 shape:{}}}]} {name:'g' type:10 graphs:[{name:'a'}]}]" },
  { "3.3", ENTRIES("float[1] w = []"),
    "{name:'g' initializer:[{dims:[1] data_type:1 name:'w' data_location:1}]}", "no-location" },
  { "3.3", ATTRIBUTES("a = !\"caf\\xe9\\x00\\n\\u{202e}\""),
    "[{name:'a' type:3 s:'caf\\xe9\\x00\\x0a\\xe2\\x80\\xae'}]" },
  { "3.3", ATTRIBUTES("a = !0x7fa00001, b = [!0x7fa00001, 1.0]"),
    "[{name:'a' type:1 f:0x7fa00001} {name:'b' type:6 floats:[0x7fa00001 1]}]" },
  { "3.3", ENTRIES("double[1] w = {!0x7ff4000000000001}, float16[2] h = {!0x7e01, 0.5}, float8e5m2[1] q = {!0x7f}"),
    "{name:'g' initializer:[{dims:[1] data_type:11 name:'w' double_data:[0x7ff4000000000001]} {dims:[2] "
    "data_type:10 int32_data:[32257 14336] name:'h'} {dims:[1] data_type:19 int32_data:[127] name:'q'}]}" },
  { "3.3", ENTRIES("float16[2] w = ![1, 0.5]"),
    "{name:'g' initializer:[{dims:[2] data_type:10 int32_data:[15360 14336] name:'w'}]}" },
  { "3.3", ENTRIES("float4e2m1[3] w = {1.0, -2.0, 3.0}, float4e2m1[3] v = ![1, -2, 3]"),
    "{name:'g' initializer:[{dims:[3] data_type:23 int32_data:[194 5] name:'w'} {dims:[3] data_type:23 "
    "int32_data:[194 5] name:'v'}]}" },
  { "3.3", ENTRIES("float[1000,1000] w = ..."),
    "{name:'g' initializer:[{dims:[1000 1000] data_type:1 name:'w'}]}", "elided" },
  { "3.3", ENTRIES("float[1] w = {} !{float_data: [1.0], raw_data: !\"\\x00\\x00\\x80?\"}"),
    "{name:'g' initializer:[{dims:[1] data_type:1 float_data:[1] name:'w' raw_data:'\\x00\\x00\\x80?'}]}" },
  { "3.3", MODEL("g () => () !{sparse_initializer: [{indices: int64[1] {0}, dims: [4]}]} { }"),
    "{graph:{name:'g' sparse_initializer:[{indices:{dims:[1] data_type:7 int64_data:[0] name:''} dims:[4]}]}}" },
  { "3.3", ATTRIBUTES("a !{i: 5}: float"),
    "[{name:'a' type:1 i:5}]" },
  { "3.3", MODEL("#: raw\ng () => () <float[2] w = {1, 2}, int8[2] i = {-1, 255}, float[0] e = {}, string[1] s = "
            "{\"x\"}, int4[2] q = {33}, uint64[1] u = {-1}> { }"),
    "{graph:{name:'g' initializer:[{dims:[2] data_type:1 name:'w' raw_data:'\\x00\\x00\\x80?\\x00\\x00\\x00@'} "
    "{dims:[2] data_type:3 name:'i' raw_data:'\\xff\\xff'} {dims:[0] data_type:1 name:'e' raw_data:''} {dims:[1] "
    "data_type:8 string_data:['x'] name:'s'} {dims:[2] data_type:22 name:'q' raw_data:'!'} {dims:[1] data_type:13 "
    "name:'u' raw_data:'\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff'}]}}" },
  { "3.3", MODEL("<opset_import: [\n#: -domain\n\"\": 1,\n#: +domain\n\"\": 2]> #: -doc\ng () => () {\n#: -domain\ny = "
            "Op (x) z = .Op (x)\n#: +domain\nz = Op <a = float[1] {1}> (x)\n#: -name\nz = Op <a = float[1] {1}, b "
            "= float[1] t {2}> (x)}"),
    "{opset_import:[{version:1} {domain:'' version:2}] graph:{node:[{input:['x'] output:['y'] op_type:'Op'} "
    "{input:['x'] output:['z'] op_type:'Op' domain:''} {input:['x'] output:['z'] op_type:'Op' domain:'' "
    "attribute:[{name:'a' type:4 t:{dims:[1] data_type:1 float_data:[1] name:''}}]} {input:['x'] output:['z'] "
    "op_type:'Op' domain:'' attribute:[{name:'a' type:4 t:{dims:[1] data_type:1 float_data:[1]}} {name:'b' type:4 "
    "t:{dims:[1] data_type:1 float_data:[2] name:'t'}}]}] name:'g'}}" },
  { "3.3", MODEL("#: +doc\ng () => () { y = If <b = h () => () { }> (x) }"),
    "{graph:{node:[{input:['x'] output:['y'] op_type:'If' domain:'' attribute:[{name:'b' type:5 g:{name:'h' "
    "doc_string:''}}]}] name:'g' doc_string:''}}" },
  { "3.3", MODEL("#: +doc\ng () => () !{doc_string: \"d\"} { }"),
    "{graph:{name:'g' doc_string:'d'}}" },
  { "3.3", MODEL("#: raw typed\n#:\n#: embed bogus\ng () => () <float[1] w = {1}> { }"),
    "{graph:{name:'g' initializer:[{dims:[1] data_type:1 float_data:[1] name:'w'}]}}", "note-word" },
  { "3.3", MODEL("<training_info: [{initialization: ? () => () { }}], configuration: [{name: \"c\", num_devices: 2, "
            "device: [\"a\", \"b\"]}], 9/1: 0x0123456789abcdef, 9/5: 0x01234567, 9/0: 18446744073709551615, 9/2: "
            "\"x\"> ?"),
    "{training_info:[{initialization:{}}] configuration:[{name:'c' num_devices:2 device:['a' 'b']}] "
    "9/1:81985529216486895 9/5:19088743 9/0:18446744073709551615 9/2:'x'}" },
  { "3.3", FUNCTIONS("<metadata_props: [\"a\": \"b\"], domain: \"d\", overload: \"\", doc_string: \"x\", 99/0: 1> f "
            "() => () { }"),
    "[{name:'f' doc_string:'x' domain:'d' overload:'' metadata_props:[{key:'a' value:'b'}] 99/0:1}]" },
  { "3.3", FUNCTIONS("f <a !{doc_string: \"x\"}, b !{doc_string: \"y\"} = 1> () => () { }"),
    "[{name:'f' attribute_proto:[{name:'a' doc_string:'x'} {name:'b' doc_string:'y' type:2 i:1}]}]" },
  { "3.3", NODES("y = a.?(x) z = ? (x)"),
    "[{input:['x'] output:['y'] domain:'a'} {input:['x'] output:['z'] domain:''}]" },
  { "3.3", ATTRIBUTES("a = ? () => () { }"),
    "[{name:'a' type:5 g:{}}]" },
  { "3.3", ATTRIBUTES("a: graphs = [a () => () { }]"),
    "[{name:'a' type:10 graphs:[{name:'a'}]}]" },
  { "3.3", MODEL("\xef\xbb\xbfg () => () { }"),
    "{graph:{name:'g'}}" },
  { "3.3", INPUTS("float x !{metadata_props: [\"k\": \"v\"]}, float[1] y !{doc_string: \"d\"} = {1}"),
    "{name:'g' initializer:[{dims:[1] data_type:1 float_data:[1] name:'y'}] input:[{name:'x' "
    "type:{tensor_type:{elem_type:1 shape:{}}} metadata_props:[{key:'k' value:'v'}]} {name:'y' "
    "type:{tensor_type:{elem_type:1 shape:{dim:[{dim_value:1}]}}} doc_string:'d'}]}" },
  { "3.3", ATTRIBUTES("a: floats = [1, 2], b: float = [1.0], c: strings = [\"x\"]"),
    "[{name:'a' type:6 floats:[1 2]} {name:'b' type:6 floats:[1]} {name:'c' type:8 strings:['x']}]", "attr-type" },
};
/* clang-format on */

static void
dump_list(GString *out, const OnnxlMessageDescriptor *descriptor, const void *items, size_t count)
{
  g_string_append_c(out, '[');
  for (size_t i = 0; i < count; i++) {
    if (i > 0)
      g_string_append_c(out, ' ');
    dump_message(out, descriptor, (const char *)items + i * descriptor->size);
  }
  g_string_append_c(out, ']');
}

static void
dump_part(GString *out, const OnnxlModelProto *model, Part part)
{
  const OnnxlGraph *graph = model->graph;

  switch (part) {
  case PART_MODEL:
    dump_message(out, &onnxl_model_descriptor, model);
    break;
  case PART_GRAPH:
    dump_message(out, &onnxl_graph_descriptor, graph);
    break;
  case PART_NODES:
    dump_list(out, &onnxl_node_descriptor, graph->node.items, graph->node.count);
    break;
  case PART_ATTRIBUTES:
    dump_list(out, &onnxl_attribute_descriptor, graph->node.items[0].attribute.items,
              graph->node.items[0].attribute.count);
    break;
  case PART_TYPE:
    dump_message(out, &onnxl_type_descriptor, graph->input.items[0].type);
    break;
  case PART_FUNCTIONS:
    dump_list(out, &onnxl_function_descriptor, model->functions.items, model->functions.count);
    break;
  }
}

static void
check_row(const Row *row)
{
  OnnxlDiagSink *sink = onnxl_diag_sink_new(NULL);
  OnnxlModel *model = onnxl_model_new(1 << 20);
  GString *message = g_string_new(NULL);
  GError *error = NULL;
  size_t findings = row->warning ? 1 : 0;

  bool ok = onnxl_text_read(onnxl_str(row->text), 200, model, sink, &error);
  CU_ASSERT_TRUE(ok);
  if (ok)
    dump_part(message, &model->proto, row->part);
  CU_ASSERT_EQUAL(onnxl_diag_count(sink), findings);
  if (findings == 1 && onnxl_diag_count(sink) == 1)
    CU_ASSERT_STRING_EQUAL(onnxl_diag_id_text(onnxl_diag_get(sink, 0)->id), row->warning);
  CU_ASSERT_STRING_EQUAL(message->str, row->message);
  if (!ok || strcmp(message->str, row->message) != 0 || onnxl_diag_count(sink) != findings)
    fprintf(stderr, "row %s: %s\n  is     %s\n  wanted %s\n  %s\n", row->row, row->text, message->str, row->message,
            onnxl_diag_count(sink) > 0 ? onnxl_diag_get(sink, 0)->message : "");
  g_clear_error(&error);
  g_string_free(message, TRUE);
  onnxl_model_free(model);
  onnxl_diag_sink_free(sink);
}

static void
test_meaning(void)
{
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
    check_row(&rows[i]);
}

/* Names and strings without escapes are where the text has them. */
static void
test_slices(void)
{
  static const char text[] = "g (float[N] \"in/0\") => () { y = a.b.Op <s = \"abc\"> (\"a\\\"b\") }";
  OnnxlDiagSink *sink = onnxl_diag_sink_new(NULL);
  OnnxlModel *model = onnxl_model_new(1 << 20);

  CU_ASSERT_TRUE_FATAL(onnxl_text_read(onnxl_str(text), 200, model, sink, NULL));
  const OnnxlGraph *graph = model->proto.graph;
  const OnnxlNode *node = &graph->node.items[0];
  CU_ASSERT_PTR_EQUAL(graph->name.data, text);
  CU_ASSERT_PTR_EQUAL(graph->input.items[0].name.data, strstr(text, "in/0"));
  CU_ASSERT_PTR_EQUAL(graph->input.items[0].type->tensor_type->shape->dim.items[0].dim_param.data, strstr(text, "N]"));
  CU_ASSERT_PTR_EQUAL(node->domain.data, strstr(text, "a.b."));
  CU_ASSERT_PTR_EQUAL(node->attribute.items[0].s.data, strstr(text, "abc"));
  CU_ASSERT_TRUE(onnxl_str_is(node->input.items[0], "a\"b"));
  onnxl_model_free(model);
  onnxl_diag_sink_free(sink);
}

/* A text that is too deep, or too big for its budget, stops with a limit and no finding. */
static void
expect_limit(const char *text, uint32_t max_depth, size_t budget, const char *word)
{
  OnnxlDiagSink *sink = onnxl_diag_sink_new(NULL);
  OnnxlModel *model = onnxl_model_new(budget);
  GError *error = NULL;

  CU_ASSERT_FALSE(onnxl_text_read(onnxl_str(text), max_depth, model, sink, &error));
  CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_LIMIT));
  CU_ASSERT_PTR_NOT_NULL(error ? strstr(error->message, word) : NULL);
  CU_ASSERT_EQUAL(onnxl_diag_errors(sink), 0);
  g_clear_error(&error);
  onnxl_model_free(model);
  onnxl_diag_sink_free(sink);
}

/* before, n times inner, then end. */
static char *
repeat(const char *before, const char *inner, size_t n, const char *end)
{
  GString *text = g_string_new(before);

  for (size_t i = 0; i < n; i++)
    g_string_append(text, inner);
  g_string_append(text, end);
  return g_string_free(text, FALSE);
}

static void
test_depth(void)
{
  static const struct {
    const char *before, *inner;
  } nested[] = {
    { "g (", "seq(" },
    { "g (", "map(int64, " },
    { "g () => () { ", "y = If <b = h () => () { " },
    { "g () => () !{9/3: ", "{1/3: " },
    { "g () => () !{node: [", "{attribute: [{g: a () => () !{node: [" },
    { "g (", "!{sequence_type: {elem_type: " },
  };

  for (size_t i = 0; i < G_N_ELEMENTS(nested); i++) {
    char *text = repeat(nested[i].before, nested[i].inner, 100000, "");
    expect_limit(text, 200, 1 << 28, "depth");
    expect_limit(text, UINT32_MAX, 1 << 28, "depth");
    g_free(text);
  }
  /* A graph is one level, its node two, the attribute three; the graph in it four. */
  const char *text = "g () => () { y = If <b = h () => () { z = Op (x) }> (x) }";
  expect_limit(text, 4, 1 << 20, "depth");
  OnnxlDiagSink *sink = onnxl_diag_sink_new(NULL);
  OnnxlModel *model = onnxl_model_new(1 << 20);
  CU_ASSERT_TRUE(onnxl_text_read(onnxl_str(text), 5, model, sink, NULL));
  onnxl_model_free(model);
  onnxl_diag_sink_free(sink);
}

static void
test_budget(void)
{
  static const char *const inner[] = { "=()", "x,", "y = Op <a = 1> (x) ", "\"\\\"\" = Op () " };

  for (size_t i = 0; i < G_N_ELEMENTS(inner); i++) {
    char *text = repeat(i == 1 ? "g () => () { y = Op (" : "g () => () { ", inner[i], 30000, i == 1 ? ") }" : "}");
    expect_limit(text, 200, 100000, "--max-metadata");
    g_free(text);
  }
}

/* A copy of text with a few bytes changed, doubled or taken out, or a piece of another text put in. */
static GString *
mutate(Random *random, OnnxlStr text, OnnxlStr other)
{
  static const char bytes[] = "(){}[]<>=,:.@?!#\"\\-+0 \nx/*;'\0\xff";
  GString *mutant = g_string_new_len(text.data, (gssize)text.size);

  for (uint32_t n = 1 + random_below(random, 4); n > 0 && mutant->len > 0; n--) {
    size_t at = random_below(random, (uint32_t)mutant->len);
    switch (random_below(random, 4)) {
    case 0:
      mutant->str[at] = bytes[random_below(random, sizeof bytes - 1)];
      break;
    case 1:
      g_string_insert_c(mutant, (gssize)at, bytes[random_below(random, sizeof bytes - 1)]);
      break;
    case 2:
      g_string_erase(mutant, (gssize)at, (gssize)(1 + random_below(random, (uint32_t)(mutant->len - at)) % 6));
      break;
    default: {
      size_t from = random_below(random, (uint32_t)other.size);
      size_t size = 1 + random_below(random, (uint32_t)(other.size - from)) % 30;
      g_string_insert_len(mutant, (gssize)at, other.data + from, (gssize)size);
      break;
    }
    }
  }
  return mutant;
}

/* Whatever the text is, it is read, or refused with a finding or a limit. */
static void
test_mutants(void)
{
  enum { MUTANTS = 20000 };
  const char *seed_text = g_getenv("ONNXL_TEST_SEED");
  Random random = { .state = seed_text ? g_ascii_strtoull(seed_text, NULL, 10) : 1 };

  printf("seed %" G_GUINT64_FORMAT " ", random.state);
  for (int i = 0; i < MUTANTS; i++) {
    OnnxlStr text = onnxl_str(rows[random_below(&random, G_N_ELEMENTS(rows))].text);
    OnnxlStr other = onnxl_str(rows[random_below(&random, G_N_ELEMENTS(rows))].text);
    GString *mutant = mutate(&random, text, other);
    /* A block of its own size, so that a read beyond the end is seen. */
    char *block = g_memdup2(mutant->str, mutant->len);
    OnnxlDiagSink *sink = onnxl_diag_sink_new(NULL);
    OnnxlModel *model = onnxl_model_new(1 << 20);
    GError *error = NULL;
    bool ok = onnxl_text_read(onnxl_str_n(block ? block : "", mutant->len), 40, model, sink, &error);
    bool explained = ok ? !error && onnxl_diag_errors(sink) == 0
                        : error && (onnxl_diag_errors(sink) > 0 || error->code == ONNXL_ERROR_LIMIT);
    CU_ASSERT_TRUE(explained);
    if (!explained)
      fprintf(stderr, "mutant %d: %s\n", i, mutant->str);
    g_clear_error(&error);
    onnxl_model_free(model);
    onnxl_diag_sink_free(sink);
    g_free(block);
    g_string_free(mutant, TRUE);
  }
}

UNIT_MAIN("text-read", { "meaning", test_meaning }, { "slices", test_slices }, { "depth", test_depth },
          { "budget", test_budget }, { "mutants", test_mutants })
