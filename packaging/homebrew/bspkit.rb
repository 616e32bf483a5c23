# A formula for Homebrew. `.ci/release` puts the version, the address and the sums in.
class Bspkit < Formula
  desc "Open and edit maps of the BSP family without touching any other byte"
  homepage "@repository@"
  version "@version@"
  license "MIT"

  on_macos do
    url "@repository@/releases/download/v@version@/bspkit-@version@-source.tar.gz"
    sha256 "@sha256 source.tar.gz@"
    depends_on "rust" => :build
  end

  on_linux do
    on_intel do
      url "@repository@/releases/download/v@version@/bspkit-@version@-x86_64-unknown-linux-gnu.tar.gz"
      sha256 "@sha256 x86_64-unknown-linux-gnu.tar.gz@"
    end
    on_arm do
      url "@repository@/releases/download/v@version@/bspkit-@version@-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "@sha256 aarch64-unknown-linux-gnu.tar.gz@"
    end
  end

  def install
    if OS.mac?
      system "cargo", "install", *std_cargo_args(path: "crates/cli")
      system bin/"bspkit", "man", "-o", "man"
      generate_completions_from_executable(bin/"bspkit", "completions")
    else
      bin.install "bspkit"
      bash_completion.install "completions/bspkit.bash" => "bspkit"
      zsh_completion.install "completions/_bspkit"
      fish_completion.install "completions/bspkit.fish"
    end
    man1.install Dir["man/*.1"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/bspkit --version")
  end
end
