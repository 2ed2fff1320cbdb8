// hutch's daemon from TypeScript: agents, commands and their streams, files, questions.
export * from './api.js'
export type { Agent as AgentState, Session as SessionState } from './api.js'
export { HutchError, Transport, configDirectory, defaultSocket, type Connection, type ServerEvent } from './transport.js'
export { chooseHutch, runHutch, runHutchSync } from './program.js'
export { Agent, Hutch, Session } from './hutch.js'
export type { ExecEvent, ExecOptions, Line, QuestionEvent, SpawnOptions } from './hutch.js'
