// Asks twice with the Vercel AI SDK: ADDRESS KEY FORMAT MODEL FIRST SECOND.
import { stepCountIs, streamText, tool } from "ai";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { z } from "zod";

const [address, apiKey, format, model, ...questions] = process.argv.slice(2);
const models = {
  "openai-chat": () => createOpenAI({ baseURL: `${address}/v1`, apiKey }).chat(model),
  "openai-responses": () => createOpenAI({ baseURL: `${address}/v1`, apiKey }).responses(model),
  anthropic: () => createAnthropic({ baseURL: `${address}/v1`, apiKey })(model),
  gemini: () => createGoogleGenerativeAI({ baseURL: `${address}/v1beta`, apiKey })(model),
};
const tools = {
  print_word: tool({
    description: "Print a word.",
    inputSchema: z.object({ word: z.string() }),
    execute: async ({ word }) => `42-${word}`,
  }),
};
const messages = [];
for (const content of questions) {
  messages.push({ role: "user", content });
  const result = streamText({
    model: models[format](),
    messages,
    tools,
    stopWhen: stepCountIs(4),
    onError: ({ error }) => console.error(error),
  });
  for await (const piece of result.textStream) process.stdout.write(piece);
  messages.push(...(await result.responseMessages));
}
