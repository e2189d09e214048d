/**
 * Messages from another session as records of the session that got them (ASR-735).
 */
import type { AsrRecord } from '../../../record/record.js'
import { assemblyOf, blocksOf, wholeContent } from '../../fold/content.js'
import { foldSessionMessage, type SessionMessageState } from '../../fold/session-message.js'
import { isObject, objectOf, textOf, typedItems } from '../../json.js'
import { findSingle, type UpdatedKind } from '../slot.js'

export const sessionMessageKind: UpdatedKind<SessionMessageState> = {
  name: 'message/session',
  idOf: ({ messageId }) => textOf(messageId),
  fold: foldSessionMessage,
  slots({ messageId, sender, recipient, content, meta }) {
    const body = {
      type: 'message',
      messageId,
      role: 'user',
      author: 'agent',
      origin: 'inter_session',
      ...(sender !== undefined && { from: { session: sender } }),
      recipients: [{ actor: { session: recipient } }],
      content: blocksOf(content),
      assembly: assemblyOf(content),
      ...(meta && { _meta: meta }),
    }
    return [{ name: 'message', body }]
  },
  find: (stream, id) => findSingle(stream, 'message', id, ({ origin }) => origin === 'inter_session'),
  revive(messageId, bodies) {
    const body = bodies.get('message') as AsrRecord
    const recipients: unknown[] = Array.isArray(body.recipients) ? body.recipients : []
    const [recipient] = recipients.filter(isObject).map(({ actor }) => textOf(objectOf(actor)?.session))
    return {
      messageId,
      sender: textOf(objectOf(body.from)?.session),
      recipient,
      content: wholeContent(typedItems(body.content) ?? [], body.assembly === 'chunks'),
      meta: objectOf(body._meta),
    }
  },
}
