package sonagi;

import com.sun.management.GarbageCollectorMXBean;
import com.sun.management.GcInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.Comparator;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Whether the service is there, and its heap and collectors as a Prometheus page. Each metric of the heap has one series:
 * a run's summary merges those of one name.
 */
@RestController
final class Monitoring {
    private static final Set<String> HEAP = ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getType() == MemoryType.HEAP)
            .map(MemoryPoolMXBean::getName)
            .collect(Collectors.toUnmodifiableSet());

    @GetMapping("/healthz")
    public String health() {
        return "ok";
    }

    @GetMapping(path = "/metrics", produces = MediaType.TEXT_PLAIN_VALUE)
    public String metrics() {
        var page = new StringBuilder();
        var heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        level(page, "jvm_memory_used_bytes", heap.getUsed());
        level(page, "jvm_memory_committed_bytes", heap.getCommitted());
        level(page, "jvm_memory_max_bytes", heap.getMax());
        leftByCollection().ifPresent(bytes -> level(page, "jvm_memory_used_after_gc_bytes", bytes));
        page.append("# TYPE jvm_gc_collection_seconds summary\n");
        for (var collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            var label = "{gc=\"" + collector.getName() + "\"} ";
            page.append("jvm_gc_collection_seconds_count").append(label).append(collector.getCollectionCount());
            page.append("\njvm_gc_collection_seconds_sum").append(label).append(collector.getCollectionTime() / 1e3);
            page.append('\n');
        }
        return page.toString();
    }

    private static void level(StringBuilder page, String name, long value) {
        page.append("# TYPE ").append(name).append(" gauge\n");
        page.append(name).append("{area=\"heap\"} ").append(value).append('\n');
    }

    /** What the last collection has left: all that is in use, and what that collection did not look at. */
    private static OptionalLong leftByCollection() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .filter(GarbageCollectorMXBean.class::isInstance)
                .map(collector -> ((GarbageCollectorMXBean) collector).getLastGcInfo())
                .filter(Objects::nonNull)
                .max(Comparator.comparingLong(GcInfo::getEndTime))
                .map(last -> OptionalLong.of(heapOf(last)))
                .orElse(OptionalLong.empty());
    }

    private static long heapOf(GcInfo collection) {
        return collection.getMemoryUsageAfterGc().entrySet().stream()
                .filter(pool -> HEAP.contains(pool.getKey()))
                .mapToLong(pool -> pool.getValue().getUsed())
                .sum();
    }
}
