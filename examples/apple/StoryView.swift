import Etbuild
import SwiftUI

/// A button that tells a story: the text grows while the model computes, and the end of the view ends the computation.
struct StoryView: View {
    @State private var text = "Once there was a fox"
    @State private var task: Task<Void, Never>?

    var body: some View {
        VStack {
            ScrollView { Text(text) }
            Button(task == nil ? "Tell" : "Stop") {
                if let running = task {
                    running.cancel()
                } else {
                    task = Task { await tell() }
                }
            }
        }
        .padding()
        .onDisappear { task?.cancel() }
    }

    @MainActor
    private func tell() async {
        defer { task = nil }
        do {
            guard let program = Bundle.main.url(forResource: "tiny-llama", withExtension: "pte") else { return }
            let teller = Storyteller(try LanguageModel(contentsOf: program))
            for try await piece in teller.pieces(text, tokens: 200) {
                text += piece
            }
        } catch {
            text += "\n\(error.localizedDescription)"
        }
    }
}
