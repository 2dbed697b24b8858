import Glibc
import RelayBase
import RelayRoute
import RelayTestSupport

/// Keys and certificates made once by the openssl command, in a folder of their own.
enum Certificates {
    static let folder: TemporaryFolder = {
        let folder = TemporaryFolder()
        let status = unsafe system("cd '\(folder.path)' && ( \(script)\n) >/dev/null 2>&1")
        precondition(status == 0, "the openssl command cannot make the test's certificates")
        // Nothing else lets go of a static.
        atexit { unsafe _ = system("rm -r '\(Certificates.folder.path)'") }
        return folder
    }()

    static func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    /// The text of a file, as the secrets of a transport.
    static func read(_ name: String) -> Secret? {
        let descriptor = unsafe open(path(name), O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { _ = close(descriptor) }
        return Secret(
            unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
                unsafe count = max(0, Glibc.read(descriptor, buffer.baseAddress, buffer.count))
            }
        )
    }

    /// SHA-256 of a certificate's SubjectPublicKeyInfo, as the openssl command has it.
    static func pin(_ name: String) -> [UInt8] { read(name + ".pin")?.bytes ?? [] }

    /// Trusts the test's own authority alone.
    static var trust: TLSSettings {
        var settings = TLSSettings()
        settings.authorityFile = path("ca.pem")
        return settings
    }

    private static let script = """
        set -e
        key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out $1.key; }
        for ca in ca other; do
            key $ca; openssl req -x509 -new -key $ca.key -out $ca.pem -subj /CN=$ca -days 30
        done
        printf '[ca]\\ndefault_ca=d\\n[d]\\ndatabase=index.txt\\nserial=serial\\nnew_certs_dir=.\\n' > ca.cnf
        printf 'default_md=sha256\\npolicy=p\\nunique_subject=no\\ncopy_extensions=copy\\n' >> ca.cnf
        printf '[p]\\ncommonName=supplied\\n' >> ca.cnf
        : > index.txt; echo 01 > serial
        signed() {
            [ -f $1.key ] || key $1
            openssl req -new -key $1.key -subj /CN=${6:-$1} -addext "$2" -out $1.csr
            openssl ca -batch -notext -config ca.cnf -cert $5.pem -keyfile $5.key -in $1.csr -out $1.pem \\
                -startdate $3 -enddate $4
        }
        leaf() { signed $1 "subjectAltName=$2" $3 $4 ${5:-ca}; }
        leaf good DNS:upstream.test 20250101000000Z 20450101000000Z
        leaf wildcard DNS:*.wild.test 20250101000000Z 20450101000000Z
        leaf address IP:127.0.0.1 20250101000000Z 20450101000000Z
        leaf expired DNS:upstream.test 20200101000000Z 20200201000000Z
        leaf future DNS:upstream.test 20450101000000Z 20460101000000Z
        signed nameless keyUsage=digitalSignature 20250101000000Z 20450101000000Z ca upstream.test
        signed numbered subjectAltName=IP:127.0.0.1 20250101000000Z 20450101000000Z ca upstream.test
        leaf partial DNS:up*.wild.test 20250101000000Z 20450101000000Z
        leaf client DNS:client.test 20250101000000Z 20450101000000Z
        signed middle basicConstraints=critical,CA:TRUE 20250101000000Z 20450101000000Z ca
        leaf deep DNS:upstream.test 20250101000000Z 20450101000000Z middle
        cat middle.pem >> deep.pem
        openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out rsa.key
        openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out p384.key
        openssl genpkey -algorithm ED25519 -out ed25519.key
        for kind in rsa p384 ed25519; do
            leaf $kind DNS:upstream.test 20250101000000Z 20450101000000Z
        done
        cp good.key stuffed.key; cat good.pem client.pem > stuffed.pem
        for name in ca other good address expired client middle deep rsa p384 ed25519; do
            openssl x509 -in $name.pem -noout -pubkey | openssl pkey -pubin -outform der |
                openssl dgst -sha256 -binary > $name.pin
        done
        openssl ec -in client.key -aes128 -passout pass:x -out locked.key
        """
}
