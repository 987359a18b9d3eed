package sonagi;

/** The answer to a request that shares: the group has it, by this number. */
record Shared(boolean ok, long seq) {
    static Shared as(Message message) {
        return new Shared(true, message.seq());
    }
}
