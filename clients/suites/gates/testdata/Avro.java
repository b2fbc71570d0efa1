import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.util.Arrays;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;

/**
 * Prints the processor time in nanoseconds that the decoding thread needs for one
 * message: neither the compiler's nor the collector's. Arguments: the file of the
 * schema, the file of the message.
 */
public class Avro {
    public static void main(String[] args) throws Exception {
        Schema schema = new Schema.Parser().parse(new File(args[0]));
        byte[] message = Files.readAllBytes(new File(args[1]).toPath());
        GenericDatumReader<GenericRecord> reader = new GenericDatumReader<>(schema);
        BinaryDecoder decoder = null;
        GenericRecord record = null;
        double[] rounds = new double[5];
        for (int round = -10; round < rounds.length; round++) { // ten until it is compiled
            int n = 50000;
            long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            for (int i = 0; i < n; i++) {
                decoder = DecoderFactory.get().binaryDecoder(message, decoder);
                record = reader.read(record, decoder);
            }
            if (round >= 0) {
                rounds[round] = (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - start) / (double) n;
            }
        }
        Arrays.sort(rounds);
        System.out.println(rounds[rounds.length / 2]);
    }
}
