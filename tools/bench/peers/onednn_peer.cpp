// oneDNN from version 3.0 on, through its primitive for products.
#include "bench/peers/host_peer.hpp"
#include "bench/peers/shared_library.hpp"

#include <clbake/operand.hpp>

#include <cstdint>

namespace clbake::tool {
namespace {

using Dim = std::int64_t;

// An argument of a primitive (dnnl_exec_arg_t), and which one it is (DNNL_ARG_...).
struct Argument {
  int which;
  void* memory;
};
constexpr int kFirst = 1, kResult = 17, kSecond = 33;

constexpr int kCpu = 1;           // dnnl_engine_kind_t
constexpr unsigned kInOrder = 1;  // dnnl_stream_flags_t

// dnnl_data_type_t; 0: none.
int type_of(Element element) {
  switch (element) {
    case Element::half: return 1;
    case Element::bfloat16: return 2;
    case Element::single: return 3;
    case Element::int32: return 4;
    case Element::int8: return 5;
    case Element::uint8: return 6;
    default: return 0;
  }
}

class OneDnn : public HostPeer {
 public:
  const char* name() const override { return "onednn"; }
  bool has(Precision p) const override {
    return type_of(element_a(p)) != 0 && type_of(element_b(p)) != 0 && bytes_of(element_c(p)) > 1;
  }

  void attach(const builder::Session* /*session*/) override {
    engine_ = make("engine", kCpu, std::size_t{0});
    stream_ = make("stream", engine_.get(), kInOrder);
  }

  bool set(const Problem& p) override {
    HostPeer::set(p);
    const Handle a = describe(operand_a(p), element_a(p.precision), p.trans_a);
    const Handle b = describe(operand_b(p), element_b(p.precision), p.trans_b);
    const Handle c = describe(operand_c(p), element_c(p.precision), false);
    void* plan = nullptr;
    if (plan_(&plan, engine_.get(), a.get(), b.get(), nullptr, c.get(), nullptr) != 0) return false;
    const Handle planned(plan, {library_["dnnl_primitive_desc_destroy"]});
    product_ = make("primitive", plan);
    first_ = memory(a, a_);
    second_ = memory(b, b_);
    result_ = memory(c, c_);
    return true;
  }

  void run() override {
    const Argument arguments[] = {{kFirst, first_.get()}, {kSecond, second_.get()}, {kResult, result_.get()}};
    succeed(execute_(product_.get(), stream_.get(), 3, arguments));
    succeed(wait_(stream_.get()));
  }

 private:
  static void succeed(int status) {
    if (status != 0) throw Failure("onednn: status " + std::to_string(status));
  }

  // By dnnl_<what>_create, whose other parameters have the arguments' types.
  template <typename... Arguments>
  Handle make(const std::string& what, const Arguments&... arguments) const {
    int (*const create)(void**, Arguments...) = library_["dnnl_" + what + "_create"];
    void* object = nullptr;
    succeed(create(&object, arguments...));
    return Handle(object, {library_["dnnl_" + what + "_destroy"]});
  }

  // A matrix, or those of a batch.
  Handle describe(const Operand& o, Element element, bool trans) const {
    const auto dim = [](std::size_t x) { return static_cast<Dim>(x); };
    const Dim rows = dim(o.rows), cols = dim(o.cols), ld = dim(o.ld);
    const Dim dims[] = {dim(o.batch), trans ? cols : rows, trans ? rows : cols};
    const Dim strides[] = {dim(o.stride), trans ? 1 : ld, trans ? ld : 1};
    const int skipped = o.batch == 1 ? 1 : 0;
    void* description = nullptr;
    succeed(describe_(&description, 3 - skipped, dims + skipped, type_of(element), strides + skipped));
    return Handle(description, {library_["dnnl_memory_desc_destroy"]});
  }
  Handle memory(const Handle& description, std::vector<unsigned char>& matrix) const {
    return make("memory", description.get(), engine_.get(), static_cast<void*>(matrix.data()));
  }

  const SharedLibrary library_{{"libdnnl.so.3", "libdnnl.so"}};
  int (*const describe_)(void**, int, const Dim*, int, const Dim*) = library_["dnnl_memory_desc_create_with_strides"];
  int (*const plan_)(void**, void*, void*, void*, void*, void*, void*) = library_["dnnl_matmul_primitive_desc_create"];
  int (*const execute_)(void*, void*, int, const Argument*) = library_["dnnl_primitive_execute"];
  int (*const wait_)(void*) = library_["dnnl_stream_wait"];
  Handle engine_, stream_, product_, first_, second_, result_;
};

}  // namespace

std::unique_ptr<Peer> make_onednn() { return std::make_unique<OneDnn>(); }

}  // namespace clbake::tool
