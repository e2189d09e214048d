/**
 * The revision of ACP that the mapping is written for (ASR-700).
 */
export const ACP_SCHEMA = '2.0.0-alpha.9'

/** The wire protocol version that an agent answers `initialize` with. */
export const ACP_PROTOCOL_VERSION = 2

/** The names this specification keeps for what a recorder has to name itself (ASR-703, ASR-710). */
export const ACP_VENDOR = 'org.agent-session.acp'
